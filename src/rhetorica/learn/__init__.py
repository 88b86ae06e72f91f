"""Weights from data; these modules know nothing of discourse."""
