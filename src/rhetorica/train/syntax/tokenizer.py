"""How the English pipeline cuts words: the stock rules of spaCy, changed to GUM's conventions."""

from __future__ import annotations

import re
from typing import Any

from spacy.attrs import ORTH
from spacy.lang.char_classes import (
    ALPHA,
    ALPHA_LOWER,
    ALPHA_UPPER,
    CONCAT_QUOTES,
    CURRENCY,
    LIST_CURRENCY,
    LIST_ELLIPSES,
    LIST_ICONS,
    LIST_PUNCT,
    LIST_QUOTES,
    PUNCT,
    UNITS,
)
from spacy.util import compile_infix_regex, compile_prefix_regex, compile_suffix_regex

# GUM splits hyphenated compounds but keeps derivational prefixes on their word.
BOUND_PREFIXES = (
    "anti bi co counter cross e ex inter intra macro micro mid mini multi neo non over post "
    "pre pro proto pseudo quasi re semi socio sub super trans ultra un"
)

ABBREVIATIONS = (
    "al. approx. Assoc. Attn. Ave. Blvd. ca. Cal. Capt. cf. Ch. ch. Col. Dept. div. ed. eds. Ed. "
    "Eds. Eng. Eq. Eqs. esp. etc. Fig. Figs. fig. figs. Ft. incl. Lt. M.Sc. Mlle. Mt. n.d. Nos. "
    "p. pp. Prof. Ref. Refs. Reps. resp. Sec. Sgt. Univ. viz. Vol. vol. vols. vs. yr. yrs. "
    "Mon. Tues. Wed. Thur. Thurs. Fri. Sat. Sun."
)

REDUCTIONS = (("wan", "na"), ("lot", "ta"), ("out", "ta"))
UNSPLIT_WORDS = "id Id s/he uh-oh Uh-oh hm-m Hm-m mm-hm Mm-hm Mm-hmm M-mm Oh-ho whoo-hoo"

Rules = dict[str, list[dict[int, str]]]

# Rules of the stock tokenizer that contradict the treebanks.
DROPPED_RULES = {"):", "(:", "and/or"}

# Runs of one symbol are single tokens; this also keeps long rulers cheap.
SYMBOL_RUN = r"(?:[!?]{2,}|_{2,}|={2,}|\*{2,}|~{2,}|<{2,}|>{2,}|-{2,}|\+{2,}|#{2,})"

# Phone numbers and long dates stay whole.  Affix stripping is quadratic in the length of a
# chunk without white space, so very long chunks (data, long URLs) are taken as one token.
WHOLE_TOKEN = r"^(?:\+?\(?[0-9]+\)?(?:-[0-9]+){2,}|[0-9]{3}-[0-9]{4}|\S{200,})$"


def prefix_patterns() -> list[str]:
    """Return the patterns that are cut off at the start of a chunk."""
    punct = [p for p in LIST_PUNCT if p != "#"]
    head = [SYMBOL_RUN, "§", "%", "=", "—", "–", r"\+(?![0-9])", rf"#(?![{ALPHA}])"]
    return [*head, *punct, *LIST_ELLIPSES, *LIST_QUOTES, *LIST_CURRENCY, *LIST_ICONS]


def suffix_patterns() -> list[str]:
    """Return the patterns that are cut off at the end of a chunk."""
    run = rf"(?<=[^!?_=*~<>+#-]){SYMBOL_RUN}"
    tail = [
        r"(?<=[0-9])\+",
        r"(?<=°[FfCcKk])\.",
        rf"(?<=[0-9])(?:{CURRENCY})",
        rf"(?<=[0-9])(?:{UNITS}|am|pm|AM|PM)",
        rf"(?<=[0-9{ALPHA_LOWER}%²\-\+{PUNCT}{CONCAT_QUOTES}])\.",
        rf"(?<=[{ALPHA_UPPER}{ALPHA_LOWER}][{ALPHA_UPPER}])\.",
    ]
    clitics = ["'s", "'S", "’s", "’S", "—", "–"]
    return [run, *LIST_PUNCT, *LIST_ELLIPSES, *LIST_QUOTES, *LIST_ICONS, *clitics, *tail]


def infix_patterns() -> list[str]:
    """Return the patterns that split the inside of a chunk."""
    not_bound = "".join(rf"(?<!\b(?i:{prefix}))" for prefix in BOUND_PREFIXES.split())
    return [
        *LIST_ELLIPSES,
        *LIST_ICONS,
        rf"[!?]{{2,}}(?=[{ALPHA}0-9])",
        r"(?:--+|–|—)",
        r"(?<=[0-9])[+\-*^](?=[0-9])",
        # "[13,14]" is a list of references, "13,140" a number.
        r"(?<=[0-9]),(?=[0-9]{1,2}(?![0-9]))",
        rf"(?<=[{ALPHA_LOWER}{CONCAT_QUOTES}])\.(?=[{ALPHA_UPPER}{CONCAT_QUOTES}])",
        rf"(?<=[{ALPHA}])[,;?!~()\[\]](?=[{ALPHA}])",
        rf"{not_bound}(?<=[{ALPHA}0-9])-(?=[{ALPHA}])",
        rf"(?<=[{ALPHA}])-(?=[0-9])",
        rf"(?<=[{ALPHA}0-9])[:<>=/](?=[{ALPHA}])",
        r"[)\]](?=[-–—/]?[(\[])",
        r"(?<=[-–—/)\]])[(\[]",
    ]


def special_cases(stock: Rules) -> Rules:
    """Adapt the stock exceptions to the conventions of the treebanks."""
    rules = {k: v for k, v in stock.items() if k not in DROPPED_RULES}
    for text, parts in list(rules.items()):
        if ("'" in text or "’" in text) and text.upper() not in rules:
            rules[text.upper()] = [{**part, ORTH: part[ORTH].upper()} for part in parts]
    for first, second in REDUCTIONS:
        for start in (first, first.title()):
            rules[start + second] = [{ORTH: start}, {ORTH: second}]
    for word in [*ABBREVIATIONS.split(), *UNSPLIT_WORDS.split()]:
        rules[word] = [{ORTH: word}]
    return rules


def adapt_tokenizer(tokenizer: Any) -> None:
    """Change the stock English tokenizer in place to the conventions of GUM."""
    tokenizer.prefix_search = compile_prefix_regex(prefix_patterns()).search
    tokenizer.suffix_search = compile_suffix_regex(suffix_patterns()).search
    tokenizer.infix_finditer = compile_infix_regex(infix_patterns()).finditer
    tokenizer.token_match = re.compile(WHOLE_TOKEN).match
    tokenizer.rules = special_cases(tokenizer.rules)
