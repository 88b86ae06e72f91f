"""Trees to look at: terminal, pictures, pages. Pure functions from a parse to a string."""
