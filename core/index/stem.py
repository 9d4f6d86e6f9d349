"""English stems by Porter's algorithm, so that ``refunded`` and ``refunds`` find ``refund``.

M. F. Porter, "An algorithm for suffix stripping", Program 14 (3), 1980. A suffix goes when
what remains before it is long enough. The paper's *measure* m of a stem counts its changes
from vowels to a consonant: [C](VC)^m[V]. Every rule of a step looks at the longest suffix
that fits, and no other is tried when its condition fails.
"""

from __future__ import annotations

_KINDS = str.maketrans("abcdefghijklmnopqrstuvwxyz", "vcccvcccvcccccvcccccvcccyc")

# Steps 2 and 3: suffix and what takes its place, where m > 0 before it.
_STEP_2 = (
    ("ational", "ate"),
    ("ization", "ize"),
    ("iveness", "ive"),
    ("fulness", "ful"),
    ("ousness", "ous"),
    ("tional", "tion"),
    ("biliti", "ble"),
    ("entli", "ent"),
    ("ousli", "ous"),
    ("ation", "ate"),
    ("alism", "al"),
    ("aliti", "al"),
    ("iviti", "ive"),
    ("enci", "ence"),
    ("anci", "ance"),
    ("izer", "ize"),
    ("abli", "able"),
    ("alli", "al"),
    ("ator", "ate"),
    ("eli", "e"),
)
_STEP_3 = (
    ("icate", "ic"),
    ("ative", ""),
    ("alize", "al"),
    ("iciti", "ic"),
    ("ical", "ic"),
    ("ness", ""),
    ("ful", ""),
)
# Step 4: suffixes that go where m > 1 before them; ``ion`` also needs an s or a t there.
_STEP_4 = (
    *("ement", "ance", "ence", "able", "ible", "ment"),
    *("ant", "ent", "ion", "ism", "ate", "iti", "ous", "ive", "ize"),
    *("al", "er", "ic", "ou"),
)
# One call of ``endswith`` tells most words that a step has nothing for them.
_SUFFIXES_2 = tuple(suffix for suffix, _ in _STEP_2)
_SUFFIXES_3 = tuple(suffix for suffix, _ in _STEP_3)


def stem(term: str) -> str:
    """The stem of a lower-case English word.

    What is not all ASCII letters, or is shorter than four, is returned as it is.
    """
    if len(term) < 4 or not (term.isascii() and term.isalpha()):
        return term
    word = _plural(term)
    word = _past_and_progressive(word)
    if word[-1] == "y" and "v" in _kinds(word[:-1]):
        word = word[:-1] + "i"
    word = _replace(word, _STEP_2, _SUFFIXES_2)
    word = _replace(word, _STEP_3, _SUFFIXES_3)
    word = _drop(word)
    return _tidy(word)


def _kinds(word: str) -> str:
    """A letter each: v for a vowel, c for a consonant. After a consonant, y is a vowel."""
    kinds = word.translate(_KINDS)
    while (at := kinds.find("y")) >= 0:
        vowel = at > 0 and kinds[at - 1] == "c"
        kinds = kinds[:at] + ("v" if vowel else "c") + kinds[at + 1 :]
    return kinds


def _measure(word: str) -> int:
    return _kinds(word).count("vc")


def _ends_short(word: str) -> bool:
    """The paper's *o: consonant, vowel, consonant at the end, the last not w, x or y."""
    return word[-1:] not in ("w", "x", "y") and _kinds(word).endswith("cvc")


def _plural(word: str) -> str:
    """Step 1a."""
    if word.endswith(("sses", "ies")):
        return word[:-2]
    if word.endswith("s") and not word.endswith("ss"):
        return word[:-1]
    return word


def _past_and_progressive(word: str) -> str:
    """Step 1b: ``ed`` and ``ing``, and the repair of what they leave."""
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) > 0 else word
    for suffix in ("ed", "ing"):
        if word.endswith(suffix):
            rest = word[: -len(suffix)]
            break
    else:
        return word
    if "v" not in _kinds(rest):
        return word
    if rest.endswith(("at", "bl", "iz")):
        return rest + "e"
    doubled = rest[-1] == rest[-2:-1] and _kinds(rest)[-2:] == "cc"
    if doubled:
        return rest if rest[-1] in "lsz" else rest[:-1]
    if _measure(rest) == 1 and _ends_short(rest):
        return rest + "e"
    return rest


def _replace(word: str, rules: tuple[tuple[str, str], ...], suffixes: tuple[str, ...]) -> str:
    """Steps 2 and 3."""
    if not word.endswith(suffixes):
        return word
    for suffix, instead in rules:
        if word.endswith(suffix):
            rest = word[: -len(suffix)]
            return rest + instead if _measure(rest) > 0 else word
    return word


def _drop(word: str) -> str:
    """Step 4."""
    if not word.endswith(_STEP_4):
        return word
    for suffix in _STEP_4:
        if word.endswith(suffix):
            rest = word[: -len(suffix)]
            fits = _measure(rest) > 1 and (suffix != "ion" or rest[-1] in "st")
            return rest if fits else word
    return word


def _tidy(word: str) -> str:
    """Step 5: a final e, a final double l."""
    if word.endswith("e"):
        rest = word[:-1]
        measure = _measure(rest)
        if measure > 1 or (measure == 1 and not _ends_short(rest)):
            word = rest
    if word.endswith("ll") and _measure(word[:-1]) > 1:
        word = word[:-1]
    return word
