"""Chinese words; terms and keywords of a collection.

- `characters`, `dictionary`: kinds of characters, lists of words
- `segmenter`: words by a CRF over characters; the general segmenter that is installed
- `texts`, `segmented`, `lattice`: what is read, and all strings of it that may be words
- `general`: counts of words that are imposed
- `dp4`: words, terms and keywords learned together (Cao et al. 2014); `proper`: its like that is a
  consistent model; `hdp`, `matching`: what it is compared with; `extract`: their terms
- `model`: fit, apply, keep
"""

from __future__ import annotations

from rhetorica.words.dictionary import Dictionary
from rhetorica.words.dp4 import Settings
from rhetorica.words.extract import Ranked
from rhetorica.words.model import METHODS, Cut, WordsModel, fit
from rhetorica.words.segmented import read_segmented
from rhetorica.words.segmenter import CRFWords, load, segment
from rhetorica.words.texts import Text, read_texts

__all__ = [
    "METHODS",
    "CRFWords",
    "Cut",
    "Dictionary",
    "Ranked",
    "Settings",
    "Text",
    "WordsModel",
    "fit",
    "load",
    "read_segmented",
    "read_texts",
    "segment",
]
