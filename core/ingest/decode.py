"""Bytes → text, with the encoding that was used. Nothing is dropped or replaced.

In order: a byte order mark, UTF-16 without one (its zeros give it away), UTF-8, UTF-8 with a few
bytes that strayed in from elsewhere, and then a guess. Guessing looks at how well each encoding's text is made of the letters that are common
in the languages written in it; charset-normalizer decides about what none of them explains.
"""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass, replace

from core.errors import DocumentError
from core.ingest.clean import NUL_MARK
from core.words import counted

_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    # Before UTF-16, whose mark is the first half of this one.
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)

_TYPOGRAPHY = "“”‘’„‚«»‹›–—…€£©®°§·•™"
_WEST = "àáâãäåæçèéêëìíîïñòóôõöøùúûüßœÀÁÂÄÅÆÇÈÉÊÍÑÓÔÖØÚÜŒ¿¡ºª²³½¼µ×" + _TYPOGRAPHY
_CENTRE = "áéíóúýčďěňřšťůžąćęłńśźżöüőűâäîăşţľĺŕôÁÉÍÓÚÝČĎŘŠŤŽŁŚŻÖÜŐŰ" + _TYPOGRAPHY
_CYRILLIC = "абвгдежзийклмнопрстуфхцчшщъыьэюяёіїєґўђјљњћџАБВГДЕЗИКЛМНОПРСТУХЧЭЯ№" + _TYPOGRAPHY
_GREEK = "αβγδεζηθικλμνξοπρσςτυφχψωάέήίόύώϊΑΒΓΔΕΘΙΚΛΜΝΟΠΡΣΤΥΦΧ" + _TYPOGRAPHY
# Encoding, its common letters, and the share of a text's non-ASCII characters that must be
# among them. Of equal shares the earlier encoding wins.
_PROFILES = (
    ("cp1252", _WEST, 0.85),
    ("cp1251", _CYRILLIC, 0.85),
    ("koi8_r", _CYRILLIC, 0.85),
    ("cp1250", _CENTRE, 0.85),
    ("iso8859_2", _CENTRE, 0.85),
    ("cp1253", _GREEK, 0.85),
)
_SIGNS = "»«„“”¿¡ºª²³½¼¾±×µ°§©®¦¨¬¶·¸¹÷¤¥¢£€№™…"
_OTHER = "\u0370-\u03ff\u0400-\u04ff"
_ODD = re.compile(
    rf"(?<=[^\W\d_])[{_SIGNS}](?=[^\W\d_])"
    rf"|(?<=[a-z])[{_OTHER}]|(?<=[{_OTHER}])[a-z]"
    r"|(?<=[а-яѐ-џα-ωά-ώß-ÿ])[А-ЯЀ-ЏΑ-ΩΆ-Ώ]"
)
MARK = "its byte order mark"
VALID = "it is valid UTF-8"
MOSTLY = "it is valid UTF-8 but for a few bytes"
ZEROS = "where its zero bytes stand"
LETTERS = "the letters that it gives"
STATISTICS = "statistics of its bytes"
# Zero bytes that a text may hold, at least; and letters beyond ASCII that must be in valid UTF-8
# for each byte that is not, of which there may be so many.
_FEW_ZEROS, _FOR_EACH_STRAY, _MOST_STRAYS = 2, 8, 1000
# Enough to tell languages apart by; a whole book need not be counted.
_SAMPLE = 20_000


@dataclass(frozen=True)
class Decoded:
    """``text`` without a byte order mark, and ``encoding`` by Python's name for it.

    ``told_by`` says how it is known, ``sure`` how far, in [0, 1]: 1 where the bytes leave no
    choice, else the share of letters that speak for it.
    """

    text: str
    encoding: str
    warnings: tuple[str, ...] = ()
    told_by: str = MARK
    sure: float = 1.0


def decode(name: str, data: bytes) -> Decoded:
    """The text of ``data``. Raises DocumentError for what is no text."""
    for mark, encoding in _BOMS:
        if data.startswith(mark):
            try:
                return _checked(name, data[len(mark) :].decode(encoding), encoding)
            except UnicodeDecodeError as error:
                problem = f"it says that it is {encoding.upper()}, and is not (byte {error.start})"
                raise DocumentError(name, problem, "Save it again as UTF-8.") from None
    if b"\x00" in data:
        if wide := _utf16(data):
            return wide
        if data.count(0) > max(_FEW_ZEROS, len(data) // 1000):
            raise _binary(name)
    try:
        return replace(_checked(name, data.decode("utf-8"), "utf-8"), told_by=VALID)
    except UnicodeDecodeError:
        return _mostly_utf8(name, data) or _guess(name, data)


def _checked(name: str, text: str, encoding: str) -> Decoded:
    """Raises DocumentError where control characters show that this is no text."""
    sample = text[:_SAMPLE]
    odd = sum(1 for c in sample if (c < " " and c not in "\t\n\r\f\v\x1b\x1a\x00") or c == "\x7f")
    if odd > max(2, len(sample) // 50):
        raise _binary(name)
    warnings = []
    if count := text.count("\x00"):
        text = text.replace("\x00", NUL_MARK)
        what = "zero byte, shown as" if count == 1 else "zero bytes, each shown as"
        warnings.append(f"The text holds {count} {what} {NUL_MARK}.")
    if count := text.count("\ufffd"):
        held = counted(count, "replacement character")
        warnings.append(f"The text holds {held}: an earlier program lost letters.")
    # A file put together from several can hold a second mark, which would hide a heading.
    return Decoded(text.lstrip("\ufeff"), encoding, tuple(warnings))


def _mostly_utf8(name: str, data: bytes) -> Decoded | None:
    """UTF-8 in which some bytes are not: read as the rest of the world's most common encoding, one
    by one, rather than everything by a guess that would garble all other letters."""
    pieces: list[str] = []
    view = memoryview(data)  # its slices are no copies
    at = strayed = 0
    while at < len(data):
        try:
            pieces.append(str(view[at:], "utf-8"))
            break
        except UnicodeDecodeError as error:
            wrong = data[at + error.start : at + error.end]
            strayed += len(wrong)
            if strayed > _MOST_STRAYS:
                return None
            pieces += data[at : at + error.start].decode("utf-8"), _byte_by_byte(wrong)
            at += error.end
    text = "".join(pieces)
    letters = sum(character > "\x7f" for character in text) - strayed
    if letters < _FOR_EACH_STRAY * strayed:
        return None
    share = letters / (letters + strayed)
    are = "is" if strayed == 1 else "are"
    warning = f"{counted(strayed, 'byte')} {are} not UTF-8, and read as cp1252."
    checked = _checked(name, text, "utf-8")
    return Decoded(
        checked.text, "utf-8", (warning, *checked.warnings), told_by=MOSTLY, sure=round(share, 3)
    )


def _binary(name: str) -> DocumentError:
    return DocumentError(
        name, "the file holds binary data, not text", "Save it as PDF, Markdown or plain text."
    )


def _utf16(data: bytes) -> Decoded | None:
    """UTF-16 without a mark: Latin letters and spaces have their zero bytes on one side."""
    if len(data) % 2:
        return None
    sample = data[: 2 * _SAMPLE]
    zeros = {"utf-16-le": sample[1::2].count(0), "utf-16-be": sample[0::2].count(0)}
    encoding = max(zeros, key=zeros.__getitem__)
    if min(zeros.values()) * 4 > zeros[encoding]:
        return None
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError:
        return None
    head = text[:_SAMPLE]
    plain = sum(c.isprintable() or c in "\t\r\n\f" for c in head)
    if plain < 0.98 * len(head):
        return None
    return Decoded(text, encoding, told_by=ZEROS, sure=plain / max(1, len(head)))


def _byte_by_byte(data: bytes) -> str:
    """As cp1252; the five bytes that it has no letter for as the control characters they are."""
    return "".join(bytes([b]).decode("cp1252", "ignore") or chr(b) for b in data)


def _guess(name: str, data: bytes) -> Decoded:
    encoding, sure = _by_letters(data)
    told_by = LETTERS
    if not encoding:
        (encoding, sure), told_by = _by_statistics(data), STATISTICS
    if not encoding:
        raise DocumentError(
            name, "its character encoding is not recognised", "Save it again as UTF-8."
        )
    label = encoding.replace("_", "-")
    warning = f"The file does not say how its letters are encoded; {label} fits best."
    checked = _checked(name, data.decode(encoding), encoding)
    return Decoded(checked.text, encoding, (warning, *checked.warnings), told_by, round(sure, 3))


def _by_letters(data: bytes) -> tuple[str, float]:
    for encoding in ("cp932", "euc_jp"):
        if share := _japanese(data, encoding):
            return encoding, share
    best, best_share = "", 0.0
    for encoding, letters, least in _PROFILES:
        try:
            text = data.decode(encoding)
        except UnicodeDecodeError:
            continue
        beyond = [c for c in text[: _SAMPLE * 4] if c > "\x7f" and not c.isspace()]
        share = sum(c in letters for c in beyond) / len(beyond) if beyond else 0.0
        share -= _oddities(text[: _SAMPLE * 4]) / len(beyond) if beyond else 0.0
        if share >= least and share > best_share and not _shouts(beyond):
            best, best_share = encoding, share
    return best, best_share


def _oddities(text: str) -> int:
    """Places that no language has, and a text read in a wrong encoding has many of.

    A capital after a small letter beyond ASCII, a sign within a word, two alphabets in one word.
    """
    return len(_ODD.findall(text))


def _shouts(characters: list[str]) -> bool:
    """Mostly capitals: Cyrillic read in the other encoding swaps the two cases."""
    return sum(c.isupper() for c in characters) > 0.6 * len(characters) and len(characters) > 8


def _japanese(data: bytes, encoding: str) -> float:
    """The share of Japanese letters, 0 where it is none: Japanese shows by its hiragana, which no
    other language's bytes resemble."""
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError:
        return 0.0
    beyond = [c for c in text[:_SAMPLE] if c > "\x7f"]
    hiragana = sum("\u3041" <= c <= "\u3096" for c in beyond)
    halfwidth = sum("\uff61" <= c <= "\uff9f" for c in beyond)
    if not hiragana or hiragana < 0.15 * len(beyond) or halfwidth >= hiragana:
        return 0.0
    return sum("\u3000" <= c <= "\u9fff" for c in beyond) / len(beyond)


def _by_statistics(data: bytes) -> tuple[str, float]:
    from charset_normalizer import from_bytes

    match = from_bytes(data[:400_000]).best()
    candidates = [(match.encoding, 1.0 - match.chaos)] if match else []
    for encoding, sure in [*candidates, ("cp1252", 0.0)]:
        try:
            data.decode(encoding)
            return encoding, sure
        except (UnicodeDecodeError, LookupError):
            continue
    return "", 0.0
