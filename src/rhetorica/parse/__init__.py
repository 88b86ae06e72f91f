"""EDUs to trees, one module a parser."""
