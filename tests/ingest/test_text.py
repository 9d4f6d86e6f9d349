"""Text and Markdown: decoding, front matter, headings, metadata. Offsets are the file's own."""

from __future__ import annotations

import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import DocumentError
from core.ingest.decode import decode
from core.ingest.extract import extract
from core.ingest.front_matter import read_front_matter
from core.ingest.markdown import read_markdown
from core.records import Access, Document, Span

ENCODED = {
    "cp1252": [
        "Prix 45 €, café",
        "“Smart quotes” – and a naïve café",
        "Déjà vu à l'école, où l'on vit",
        "Straße, Größe, Übermut",
        "El niño comió piñas; ¿cuándo volverá?",
    ],
    "cp1250": ["Příliš žluťoučký kůň úpěl ďábelské ódy.", "Zażółć gęślą jaźń — łódź"],
    "iso8859_2": ["Příliš žluťoučký kůň úpěl ďábelské ódy, šťastně žil."],
    "cp1251": ["Это русский текст, который нужно прочитать."],
    "koi8_r": ["Это русский текст, который нужно прочитать."],
    "cp1253": ["Αυτό είναι ένα ελληνικό κείμενο."],
    "cp932": ["これは日本語の文章です。検索できますか。"],
    "euc_jp": ["これは日本語の文章です。検索できますか。"],
    "gb18030": ["押金退还需要七天。请在入住前联系我们。"],
    "big5": ["這是繁體中文的句子。請在入住前聯繫我們。"],
    "euc_kr": ["한국어 문장입니다. 검색이 됩니까?"],
    "utf-16": ["Grüße aus Köln"],
    "utf-16-le": ["Grüße aus Köln", "plain words"],
    "utf-16-be": ["Grüße aus Köln", "plain words"],
    "utf-8-sig": ["Grüße aus Köln"],
    "utf-32": ["Grüße aus Köln"],
}


@pytest.mark.parametrize(
    ("encoding", "text"), [(e, text) for e, texts in ENCODED.items() for text in texts]
)
def test_text_is_decoded_and_the_encoding_told(encoding: str, text: str) -> None:
    decoded = decode("a.txt", text.encode(encoding))
    assert decoded.text == text
    assert decoded.encoding
    guessed = not encoding.startswith("utf")
    assert ("does not say" in "".join(decoded.warnings)) == guessed


@given(st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1))
def test_utf8_comes_back_as_it_was(text: str) -> None:
    decoded = decode("a.txt", text.encode())
    assert decoded.text == text.removeprefix("\ufeff")


def test_a_false_byte_order_mark_is_named() -> None:
    with pytest.raises(DocumentError, match="says that it is UTF-16-LE, and is not"):
        decode("a.txt", b"\xff\xfe\x00\xd8\x41")


def read(text: str, name: str = "a.md", **metadata: object) -> Document:
    return extract(name, text.encode(), metadata)


def test_a_byte_order_mark_does_not_hide_the_heading() -> None:
    document = read("\ufeff# Title\n\nWords.")
    assert document.text == "Title\n\nWords."
    assert document.raw == "# Title\n\nWords."
    assert document.title == "Title"
    assert [(h.start, h.level, h.text) for h in document.headings] == [(0, 1, "Title")]


def test_headings_are_found_where_markdown_has_them() -> None:
    text = (
        "# One *bold* `code`\r\n\r\nUnder\nlined\n=====\n\n```sh\n# no heading\n```\n\n"
        "    # nor here\n\n> # nor in a quotation\n\n## Two ##\rrest\n\n"
        "a\x0bb\u2028c\n\n### Three [link](http://x)\n#nor this\n"
    )
    read = read_markdown(text)
    headings = read.headings
    assert [(h.level, h.text) for h in headings] == [
        (1, "One bold code"),
        (1, "Under lined"),
        (2, "Two"),
        (3, "Three link"),
    ]
    for heading, line in zip(
        headings, ("One bold code\r", "Under\n", "Two\r", "Three link\n"), strict=True
    ):
        assert read.text[heading.start :].startswith(line)


@given(st.text(st.sampled_from("#= -\n\r\x0c\u2028`>ab\t"), max_size=60), st.integers(0, 9))
def test_headings_lie_at_line_starts_in_order(text: str, lead: int) -> None:
    text = "x" * lead + "\n" + text
    read = read_markdown(text, body=lead + 1)
    headings = read.headings
    assert [h.start for h in headings] == sorted(h.start for h in headings)
    for heading in headings:
        assert lead < heading.start < len(read.text)
        assert read.text[heading.start - 1] in "\r\n"


FRONT = (
    "---\ntenant: northwind\nroles: [staff, finance]\nlabels: [internal]\n"
    "date: 2026-03-01\ntitle: Terms\n---\n"
)


def test_front_matter_is_metadata_and_not_ranked() -> None:
    body = "\nFirst paragraph.\n\nSecond.\n\nThird.\n"
    document = read(FRONT + body)
    assert document.text == FRONT + body
    assert document.unranked == (Span(0, len(FRONT), "front matter"),)
    assert document.access == Access("northwind", ("staff", "finance"), ("internal",))
    assert (document.date, document.title) == ("2026-03-01", "Terms")


@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"])
def test_front_matter_ends_its_lines_in_any_way(ending: str) -> None:
    text = (FRONT + "\n# Head\n").replace("\n", ending)
    document = read(text)
    assert document.access.tenant == "northwind"
    assert document.text[document.unranked[0].end :] == f"{ending}Head{ending}"
    assert document.text[document.headings[0].start :].startswith("Head")


@pytest.mark.parametrize(
    "text",
    [
        "---\n\nA paragraph under a rule.\n\n---\n\nAnother.",
        "---\nJust words between rules\n---\nand more",
        "---\nOpening hours: nine to five\n---\nand more",
        "---\n---\nand more",
        "---",
        "--- \nnever: closed",
        "text first\n---\na: b\n---\n",
    ],
)
def test_a_text_that_opens_with_a_rule_stays_whole(text: str) -> None:
    document = read(text)
    assert document.original == text and not document.unranked
    # A rule below a line makes it a heading, and is its sign.
    assert document.text.replace("---", "").split() == text.replace("---", "").split()


def test_front_matter_that_does_not_parse_is_mentioned() -> None:
    document = read("---\ntitle: a: b\n---\nwords")
    assert not document.unranked
    assert "line 2" in document.report.warnings[0]


@pytest.mark.parametrize(
    "lines",
    [
        "tenant: [a]",
        "tenant: {a: b}",
        "tenant:",
        'tenant: ""',
        "roles: staff, finance",
        "roles: [staff, [x]]",
        "roles:",
        "labels: {a: b}",
        "labels: ['']",
        "title: a: b\ntenant: x",
        "Tenant: x\ntenant: y",
        "ROLES: [a",
        "two words: x\ntenant: y",
        "\ntenant: y",
        "\ttenant: y",
        "\u200btenant: y",
        "{tenant: y, roles: [a}",
        '{"title": "x" "tenant": "y"}',
        "x: &a {tenant: y}\n<<: *a",
        "tenants: [a, b]",
        "tennant: a",
        "rolles: [a]",
        "lables: [a]",
        "role: staff, finance",
        "role: a\nroles: [b]",
        "label: {a: b}",
        "title: x\x85tenant: [a]",
        "title: x\u2028tenant: [a]",
    ],
)
def test_access_that_cannot_be_understood_never_opens_a_file(lines: str) -> None:
    with pytest.raises(DocumentError):
        read(f"---\n{lines}\n---\nSecret.")
    with pytest.raises(DocumentError):
        extract("a.txt", f"---\n{lines}\n---\nSecret.".encode(), {})


@pytest.mark.parametrize(
    "text",
    [
        "\n---\ntenant: x\n---\nSecret.",
        "  ---\ntenant: x\n  ---\nSecret.",
        "--- # ours\ntenant: x\n---\nSecret.",
        "----\ntenant: x\n----\nSecret.",
        '+++\ntenant = "x"\n+++\nSecret.',
        "%YAML 1.2\n\n---\ntenant: x\n---\nSecret.",
        " \x85---\x85tenant: x\x85---\x85Secret.",
        "%yaml\n---\ntenant: x\n---\nSecret.",
    ],
)
def test_what_only_looks_like_front_matter_does_not_open_a_file(text: str) -> None:
    with pytest.raises(DocumentError, match="at the very top"):
        read(text)


@pytest.mark.parametrize(
    "text",
    [
        "%YAML 1.2\n---\ntenant: x\n---\nBody",
        "%YAML 1.2\n%TAG ! tag:x,2000:\n---\ntenant: x\n...\nBody",
        "---\ntenant: x\n...\nBody",
        "---\r\ntenant: x\r\n... \r\nBody",
        "---\x85tenant: x\x85---\x85Body",
        "---\x85tenant: x\u2028...\u2029Body",
        "---\ntitle: t\x85tenant: x\n---\nBody",
    ],
)
def test_front_matter_by_all_that_yaml_allows(text: str) -> None:
    document = read(text)
    assert document.access == Access("x")
    (span,) = document.unranked
    assert document.text[span.end :] == "Body"


def test_a_closing_line_of_dots_within_the_body_closes_nothing() -> None:
    document = read("---\ntenant: x\n---\nBody\n...\nmore")
    assert document.text.endswith("Body\n...\nmore") and document.unranked[0].end == 18


def test_one_role_or_label_may_be_written_in_the_singular() -> None:
    document = read("---\nrole: staff\nLabel: [internal]\n---\nwords")
    assert document.access == Access("", ("staff",), ("internal",))
    assert document.report.warnings[0] == "The front matter's “role” is read as “roles”."
    assert len(document.report.warnings) == 2


@pytest.mark.parametrize("key", ["roles", "labels"])
def test_an_empty_list_of_access_is_warned_of(key: str) -> None:
    document = read(f"---\n{key}: []\n---\nwords")
    assert document.access == Access() and key in document.report.warnings[0]
    assert "all may read it" in read("words", **{key: []}).report.warnings[0]


def test_other_tools_keys_are_none_of_ours() -> None:
    document = read("---\nrules: [a]\nlayout: post\ntags: [b]\n---\nwords")
    assert document.access == Access() and document.unranked


def test_access_below_another_key_is_an_error() -> None:
    with pytest.raises(DocumentError, match="“access” holds “tenant”"):
        read("---\naccess:\n  tenant: x\n---\nwords")


def test_a_message_stays_short_where_aliases_multiply() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 7)]
    with pytest.raises(DocumentError) as caught:
        read("---\n" + "\n".join([*lines, "roles: *a6"]) + "\n---\nwords")
    assert len(str(caught.value)) < 500


def test_front_matter_that_was_never_closed_does_not_open_a_file() -> None:
    with pytest.raises(DocumentError, match="no closing"):
        read("---\ntenant: northwind\n\nSecret.")


def test_yaml_says_what_it_says() -> None:
    assert read("---\ntenant: no\nroles: on\n---\nx").access == Access("no", ("on",))


def test_what_is_said_beside_the_file_wins_and_is_told() -> None:
    document = read(FRONT + "words", roles=["board"], date=datetime.date(2027, 1, 2), priority=3)
    assert document.access == Access("northwind", ("board",), ("internal",))
    assert (document.date, document.priority) == ("2027-01-02", 3)
    assert len(document.report.warnings) == 2


def test_other_values_are_left_out_with_a_warning() -> None:
    document = read("---\ndate: last May\npriority: high\ntitle: [a]\npriorty: 1\n---\nwords")
    assert (document.date, document.priority, document.title) == ("", 0, "a")
    assert len(document.report.warnings) == 4


@pytest.mark.parametrize("metadata", [{"tennant": "a"}, {"tenant": 7}, {"roles": [1]}])
def test_metadata_beside_the_file_is_strict(metadata: dict[str, object]) -> None:
    with pytest.raises(DocumentError):
        read("words", **metadata)


def test_a_file_of_front_matter_alone_holds_no_text() -> None:
    with pytest.raises(DocumentError, match="no text"):
        read("---\ntitle: x\n---\n\n")


@given(st.text(st.sampled_from("-.:\n\r #[]{}&*!|>'\"%@`atenroles"), max_size=80))
def test_any_text_is_read_whole_or_refused(tail: str) -> None:
    text = "---\n" + tail
    try:
        front = read_front_matter("a.md", text)
    except DocumentError:
        return
    assert 0 <= front.body <= len(text)
    assert (front.body > 0) == bool(front.values)


def test_long_texts_without_any_break_are_read() -> None:
    text = "x" * 10 + " " + "a" * 5000
    assert read(text, "a.txt").text == text


@pytest.mark.parametrize(
    "text",
    [
        '{"tenant": "acme"}\n\nThe pump.',
        '{\n "title": "x",\n "roles": ["a"]\n}\nThe pump.',
        ";;;\ntenant: acme\n;;;\nThe pump.",
        "<!-- made by a tool -->\n---\ntenant: acme\n---\nThe pump.",
        "---\naccess:\n  tenant: acme\n---\nThe pump.",
    ],
)
def test_access_in_another_form_is_refused_and_never_open_to_everyone(text: str) -> None:
    with pytest.raises(DocumentError):
        extract("a.md", text.encode(), {})


@pytest.mark.parametrize(
    "text",
    ['{"labels": ["bug"], "body": "The pump."}', "{tenant} owes rent.", "---\nThe tenant left."],
)
def test_text_that_is_no_front_matter_is_read(text: str) -> None:
    assert "The" in extract("a.md", text.encode(), {}).text or "rent" in text


@pytest.mark.parametrize("stray", [b"\xe9", b"\x80", b"\x81", b"\xe2\x82"])
def test_a_byte_that_strayed_into_utf8_garbles_no_other_letter(stray: bytes) -> None:
    text = "Straße, Größe, Übermut und für später: 45 € je Stück. "
    decoded = decode("a.txt", text.encode() + stray + b" " + text.encode())
    assert decoded.encoding == "utf-8" and decoded.text.count(text) == 2
    assert len(decoded.text) == 2 * len(text) + len(stray) + 1
    count = "1 byte is" if len(stray) == 1 else "2 bytes are"
    assert decoded.warnings == (f"{count} not UTF-8, and read as cp1252.",)
    assert 0.5 < decoded.sure < 1.0


@given(st.text(min_size=1), st.integers(0, 255), st.data())
def test_text_in_utf8_with_a_byte_more_keeps_all_its_characters(
    text: str, stray: int, data: st.DataObject
) -> None:
    text = "ünïcödé wörds thät äre înt¿nded to bé réad " + text.replace("\x00", "")
    at = data.draw(st.integers(0, len(text)))
    try:
        decoded = decode("a.txt", (text[:at]).encode() + bytes([stray]) + text[at:].encode())
    except DocumentError as error:  # too many control characters
        assert "binary" in error.problem
        return
    if decoded.encoding == "utf-8":
        assert decoded.text.startswith(text[:at]) and decoded.text.endswith(text[at:])


def test_a_zero_byte_is_shown_and_makes_no_text_a_binary() -> None:
    document = extract("a.txt", b"One zero \x00 in a log.", {})
    assert document.text == "One zero \u2400 in a log."
    assert document.report.warnings == ("The text holds 1 zero byte, shown as \u2400.",)
    with pytest.raises(DocumentError, match="binary data"):
        extract("a.txt", b"\x00\x01\x00\x02 many \x00\x00\x00\x00", {})


def test_a_second_byte_order_mark_hides_no_heading() -> None:
    document = extract("a.md", "\ufeff\ufeff# Title\n\nText".encode(), {})
    assert [heading.text for heading in document.headings] == ["Title"]
    owned = extract("a.md", "\ufeff\ufeff---\ntenant: x\n---\nSecret.".encode(), {})
    assert owned.access.tenant == "x"


@pytest.mark.parametrize(
    "content", ["\u200b\u2028\u00a0", "\u2060\n\u00ad", "---\ntitle: A\n---\n\u200b"]
)
@pytest.mark.parametrize("name", ["a.md", "a.txt"])
def test_a_text_of_which_nothing_can_be_seen_is_none(content: str, name: str) -> None:
    with pytest.raises(DocumentError, match="no text|blank"):
        extract(name, content.encode(), {})
