"""Corpora as they are distributed."""
