"""What the models look at: syntax, phrases, words."""
