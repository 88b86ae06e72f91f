"""Raw text to a document with paragraphs, tokens, sentences and syntax."""

from rhetorica.text.english import annotate, annotate_all, looks_english
from rhetorica.text.layout import find_paragraphs

__all__ = ["annotate", "annotate_all", "find_paragraphs", "looks_english"]
