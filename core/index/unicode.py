"""One spelling for text that looks the same: normalisation, and the way back to the original.

Compatibility forms (ligatures, full width, Arabic presentation forms) and composed or
decomposed accents become one (NFKC, Unicode Standard Annex 15), and characters that only
steer the display go. Case is left alone: the analyser still needs it to split ``getUserById``.
"""

from __future__ import annotations

import re
import unicodedata
from itertools import pairwise

# Characters without a width or a meaning of their own: soft hyphen, combining grapheme joiner,
# zero-width joiner, direction marks, word joiner, variation selectors, byte order mark. The
# zero-width space and non-joiner stay: they stand between two words, or two parts of one.
_INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u180b-\u180f\u200d-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f"
    "\ufe00-\ufe0f\ufeff\U000e0000-\U000e01ef]+"
)

# Accents and vowel points that readers and writers of the script often leave out. Marks of
# Indic and Southeast Asian scripts are not among them: there they are the vowels.
_OPTIONAL_MARKS = dict.fromkeys(
    (
        *range(0x0300, 0x0370),
        *range(0x0591, 0x05C8),
        *range(0x0610, 0x061B),
        0x0640,  # tatweel stretches a word, and says nothing
        *range(0x064B, 0x0660),
        0x0670,
        *range(0x06D6, 0x06EE),
    )
)
# Letters whose stroke or tie Unicode does not take apart.
_PLAIN_LETTERS = str.maketrans(
    {"đ": "d", "ħ": "h", "ı": "i", "ł": "l", "ø": "o", "æ": "ae", "œ": "oe"}
)

# An ASCII character never joins what stands before it, so normalising from one to the next
# gives the same text as normalising the whole.
_SEGMENT = re.compile(r"[\x00-\x7f][^\x00-\x7f]*|[^\x00-\x7f]+")


def normalise(text: str) -> str:
    """``text`` in NFKC, without invisible characters. ASCII text comes back as it is."""
    if text.isascii():
        return text
    text = _INVISIBLE.sub("", text)
    if unicodedata.is_normalized("NFKC", text):
        return text
    return unicodedata.normalize("NFKC", text)


def normalise_with_offsets(text: str) -> tuple[str, list[int], list[int]]:
    """:func:`normalise`, and where each of its characters came from.

    Character ``i`` of the normalised text was read from ``text[starts[i]:ends[i]]``. One
    original character may give several (a ligature), and several may give one (a letter and
    its accent); where Unicode mixes a longer stretch, all of it is named.
    """
    if text.isascii():
        return text, list(range(len(text))), list(range(1, len(text) + 1))
    parts: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    for match in _SEGMENT.finditer(text):
        for start, end, clean in _clusters(match.group(), match.start()):
            parts.append(clean)
            if len(clean) == end - start:
                starts.extend(range(start, end))
                ends.extend(range(start + 1, end + 1))
            else:
                starts.extend([start] * len(clean))
                ends.extend([end] * len(clean))
    return "".join(parts), starts, ends


def _clusters(segment: str, origin: int) -> list[tuple[int, int, str]]:
    """A segment cut before each character that cannot join the one before it."""
    whole = normalise(segment)
    if len(segment) == 1:
        return [(origin, origin + 1, whole)]
    cuts = [0, *(i for i in range(1, len(segment)) if not _joins(segment[i])), len(segment)]
    clusters = [
        (origin + start, origin + end, normalise(segment[start:end]))
        for start, end in pairwise(cuts)
    ]
    if "".join(clean for _, _, clean in clusters) == whole:
        return clusters
    return [(origin, origin + len(segment), whole)]


def _joins(character: str) -> bool:
    # Marks, and the vowels and final consonants that complete a Hangul syllable.
    return unicodedata.category(character)[0] == "M" or "\u1160" <= character <= "\u11ff"


def fold(word: str) -> str:
    """A normalised word in one case and with ASCII digits: ``Straße`` and ``STRASSE`` agree."""
    if word.isascii():
        return word.lower()
    folded = unicodedata.normalize("NFKC", word.casefold())
    return "".join(
        str(unicodedata.decimal(c)) if c > "\x7f" and c.isdecimal() else c for c in folded
    )


def bare(word: str) -> str:
    """A folded word without optional accents and vowel points: ``café`` gives ``cafe``."""
    if word.isascii():
        return word
    apart = unicodedata.normalize("NFD", word).translate(_OPTIONAL_MARKS)
    return unicodedata.normalize("NFC", apart.translate(_PLAIN_LETTERS))
