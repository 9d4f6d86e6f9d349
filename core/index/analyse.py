"""Text to the terms that BM25 counts, the same way for chunks and for questions.

A word gives itself, folded, and what a person might type instead of it: the parts of a
compound (``CVE-2024-1234``, ``v2.3.1``, ``getUserById``), the word without its accents, and
its English stem. The scripts that write no spaces between words give one term a character (or
a syllable, where vowels are signs) and one a pair of neighbours.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import cache, lru_cache
from itertools import chain, pairwise

from core.index.stem import stem
from core.index.unicode import bare, fold, normalise, normalise_with_offsets

TERM_LIMIT = 128
"""Characters of a term that are kept. What is longer is an encoded blob, not a word."""

# Words that ask and bind but name nothing. Dropped from questions only: a chunk keeps them, so
# that its length is that of its text. Negations are not among them, nor words that double as
# abbreviations (us, it).
STOPWORDS = frozenset(
    "a an and are as at be been being but by can could did do does for from had has have he her "
    "his how i if in into is its of on or our she should so such than that the their them then "
    "there these they this those to was we were what when where which while who whom whose why "
    "will with would you your".split()
)

_CJK = "\u3005-\u3007\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u312f\u31a0-\u31bf" + (
    "\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
)
_HANGUL = "\u1100-\u11ff\uac00-\ud7a3"
# Thai, Lao, Myanmar, Khmer: letters and vowel signs, without digits.
_SIGNED = "\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ecf\u0edc-\u0edf" + (
    "\u1000-\u103f\u1050-\u108f\u109a-\u109f\u1780-\u17d3"
)
_SIGNED_MARKS = "\u0e30-\u0e3a\u0e45\u0e47-\u0e4e\u0eb0-\u0ebc\u0ec8-\u0ecf" + (
    "\u102b-\u103e\u1056-\u1059\u1062-\u1064\u1067-\u106d\u1082-\u108d\u17b4-\u17d3"
)
# A syllable: a vowel written before its consonant, the consonant, and all signs that hang on it,
# also after a space that an extractor put between; a stacked consonant belongs to the first.
_SYLLABLE = (
    f"[\u0e40-\u0e44\u0ec0-\u0ec4]?(?![{_SIGNED_MARKS}])[{_SIGNED}]"
    f"(?:[\u17d2\u1039][{_SIGNED}]| ?[{_SIGNED_MARKS}])*"
)
_UNIT = re.compile(f"[{_CJK}{_HANGUL}]|{_SYLLABLE}|[{_SIGNED}]")
_UNSPACED = re.compile(f"[{_CJK}{_HANGUL}{_SIGNED}]")

_PIECE = re.compile(r"[^-_.'&@,\s\u200b\u200c+#]+")
_CASE_OR_DIGIT = re.compile(
    r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|(?<=\d)(?=[^\W\d])|(?<=[^\W\d])(?=\d)"
)
_LETTER_HYPHEN = re.compile(r"(?<=[^\W\d_])-\s*(?=[^\W\d_])")
_ACRONYM = re.compile(r"[^\W\d_](?:\.[^\W\d_])+")
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_VERSION = re.compile(r"[vV]?((\d+\.\d+)(?:\.\d+)*)(?!\w)")
_JOINERS = str.maketrans({"\u2019": "'", "\u2010": "-", "\u200b": None, "\u200c": None})
_SAME_LENGTH = str.maketrans({"\u2019": "'", "\u2010": "-"})
# A hash or an encoded blob falls into this many splinters or more, and none of them is a word.
_SPLINTERS = 8


def analyse(text: str) -> list[str]:
    """The terms of a chunk, in order, with repeats. A pure function of ``text``."""
    clean = normalise(text)
    terms: list[str] = []
    for token in _pattern(clean.isascii()).findall(clean):
        terms.extend(_terms(token))
    return terms


def analyse_query(text: str) -> list[str]:
    """The distinct terms of a question, in order of first appearance.

    Stopwords go, unless nothing else is left. In scripts without spaces a run of two or more
    characters is looked up by its pairs alone: single characters would match almost anything.
    """
    clean = normalise(text)
    tokens = _pattern(clean.isascii()).findall(clean)
    # The first term is the whole word without its possessive: "What's" is a stopword too.
    kept = [token for token in tokens if STOPWORDS.isdisjoint(_terms(token)[:1])] or tokens
    return list(dict.fromkeys(chain.from_iterable(map(_query_terms, kept))))


def terms_with_spans(text: str) -> list[tuple[str, int, int]]:
    """:func:`analyse`, each term with the characters ``text[start:end]`` that it came from."""
    clean, starts, ends = normalise_with_offsets(text)
    return [
        (term, starts[match.start() + start], ends[match.start() + end - 1])
        for match in _pattern(clean.isascii()).finditer(clean)
        for term, start, end in _expand(match.group())
    ]


@cache
def _pattern(ascii_only: bool) -> re.Pattern[str]:
    """What stands together as one token: a word with its joiners, or an unspaced run."""
    if ascii_only:
        word, joiners = "[A-Za-z0-9]+", "-.'&@"
    else:
        letter = rf"[^\W_{_CJK}{_HANGUL}{_SIGNED}]"
        word, joiners = rf"{letter}+(?:[{_marks()}]+{letter}*)*", "-.'&@\u2019\u2010\u200b\u200c"
    # A hyphen at the end of a line may have been put there by the typesetter; digits
    # grouped by commas are one number; C++ and C# end in signs.
    joint = rf"(?:[{joiners}]|_+|-[ \t]*\r?\n[ \t]*(?![A-Z\d])|,(?<=\d,)(?=\d\d\d(?!\w)))"
    sign = r"(?:\+\+|\+(?!\w)|\#(?!\w))"
    # Most words end at a blank: one look ahead there spares all the alternatives.
    token = rf"{word}(?:(?=[{joiners}_,+\#])(?:{joint}{word})*{sign}?)?"
    if ascii_only:
        return re.compile(token)
    # A line of Chinese or Japanese breaks anywhere, and extractors put spaces between
    # characters: one blank does not end a run. Korean and Thai use theirs.
    cjk = rf"[{_CJK}](?:[\s\u200b]?[{_CJK}])*"
    syllables = rf"(?:{_SYLLABLE}|[{_SIGNED}])(?:\u200b?(?:{_SYLLABLE}|[{_SIGNED}]))*"
    return re.compile(rf"{token}|{cjk}|[{_HANGUL}]+|{syllables}")


@cache
def _marks() -> str:
    """Combining marks as a character class: ``re`` does not count them as word characters."""
    ranges: list[list[int]] = []
    for code in range(0x300, 0x1F000):
        if unicodedata.category(chr(code))[0] == "M":
            if ranges and ranges[-1][1] == code - 1:
                ranges[-1][1] = code
            else:
                ranges.append([code, code])
    return "".join(f"{chr(first)}-{chr(last)}" for first, last in ranges)


def _terms(token: str) -> tuple[str, ...]:
    # Words return again and again; blobs and runs of an unspaced script hardly ever do.
    if len(token) <= 40 and token[0] < "\u0e01":
        return _remembered_terms(token)
    return tuple(term for term, _, _ in _expand(token))


@lru_cache(maxsize=1 << 18)
def _remembered_terms(token: str) -> tuple[str, ...]:
    return tuple(term for term, _, _ in _expand(token))


def _query_terms(token: str) -> tuple[str, ...]:
    if not _UNSPACED.match(token):
        return _terms(token)
    ngrams = list(_ngrams(token))
    pairs = tuple(term for term, _, _, size in ngrams if size == 2)
    return pairs or tuple(term for term, _, _, _ in ngrams)


def _expand(token: str) -> list[tuple[str, int, int]]:
    """The distinct terms of one token, with their place in it."""
    if _UNSPACED.match(token):
        return [(term, start, end) for term, start, end, _ in _ngrams(token)]
    places: dict[str, tuple[int, int]] = {}
    for form, start, end in _forms(token):
        folded = fold(form)[:TERM_LIMIT]
        for term in (folded, bare(folded), stem(folded)):
            places.setdefault(term, (start, end))
    return [(term, start, end) for term, (start, end) in places.items() if term]


def _ngrams(run: str) -> Iterator[tuple[str, int, int, int]]:
    """Each unit of an unspaced run, then each pair: term, start, end, units."""
    units = [(m.group().replace(" ", ""), m.start(), m.end()) for m in _UNIT.finditer(run)]
    for term, start, end in units:
        yield fold(term)[:TERM_LIMIT], start, end, 1
    for (first, start, _), (second, _, end) in pairwise(units):
        yield fold(first + second)[:TERM_LIMIT], start, end, 2


def _forms(token: str) -> Iterator[tuple[str, int, int]]:
    """A word and, if it is a compound, its parts; neither folded yet."""
    end = len(token)
    if end > 2 and token[-2] in "'\u2019" and token[-1] in "sS":
        end -= 2  # the possessive says nothing of what it is about
    token = token[:end]
    yield _whole(token.translate(_JOINERS)), 0, end
    if token.isalpha() and (token[1:].islower() or token.isupper() or token.islower()):
        return
    token = token.translate(_SAME_LENGTH)
    if _NUMBER.fullmatch(token.replace(",", "")):
        return
    if version := _VERSION.match(token):
        yield version[1], *version.span(1)
        yield version[2], *version.span(2)
    if _ACRONYM.fullmatch(token):
        return
    for piece in _PIECE.finditer(token):
        if len(piece.group()) == 1 and "'" in token[max(piece.start() - 1, 0) : piece.end() + 1]:
            continue  # the t of don't, the l of l'eau
        yield piece.group(), *piece.span()
        yield from _subwords(piece.group(), piece.start())


def _whole(token: str) -> str:
    """How a compound is written as one term: ``e-mail`` as ``email``, ``1,000`` as ``1000``.

    Hyphens between letters come and go (in spelling, and at the ends of lines); those beside
    a digit tell one number from another and stay.
    """
    if token.isalnum():
        return token
    if _ACRONYM.fullmatch(token):
        return token.replace(".", "")
    return re.sub(r"\s", "", _LETTER_HYPHEN.sub("", token)).replace(",", "")


def _subwords(piece: str, origin: int) -> Iterator[tuple[str, int, int]]:
    """``getUserById`` at its capitals, ``x86`` at its digits; lone letters say too little."""
    cuts = [0, *(m.start() for m in _CASE_OR_DIGIT.finditer(piece)), len(piece)]
    if not 3 <= len(cuts) <= _SPLINTERS:
        return
    for start, end in pairwise(cuts):
        if end - start > 1 or piece[start].isdecimal():
            yield piece[start:end], origin + start, origin + end
