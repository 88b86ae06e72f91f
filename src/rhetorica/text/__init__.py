"""Raw text to a document with paragraphs, tokens, sentences and syntax."""

from rhetorica.text.annotate import annotate, annotate_all
from rhetorica.text.layout import find_paragraphs

__all__ = ["annotate", "annotate_all", "find_paragraphs"]
