"""Chinese words: where they begin and end.

- `characters`, `dictionary`: kinds of characters, lists of words
- `segmenter`: words by a CRF over characters; the general segmenter that is installed
"""

from __future__ import annotations

from rhetorica.words.dictionary import Dictionary
from rhetorica.words.segmenter import CRFWords, load, segment

__all__ = ["CRFWords", "Dictionary", "load", "segment"]
