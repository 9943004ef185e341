"""Whatever a source calls its tables, columns and keys: in Markdown it is text, and all of it is there."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from transforms import display
from transforms.display import one_line, visible, visible_json

READER = MarkdownIt("commonmark", {"linkify": False}).enable("table")

HOSTILE = (
    "![x](http://evil.example/?q=1)",
    "[x](javascript:alert(1))",
    "<img src=x onerror=alert(1)>",
    "https://evil.example",
    "a`b``c",
    "`",
    " ` ",
    "a\\|b|c\\",
    "# head\n\n- ![x](y)\n\n```\n<b>\n```\n\n| a |\n|---|",
    "x\r\n\r\n![x](y)\u2028<script>",
    "\x1b[31mred\x1b]0;title\x07\x9b2J",
    "\u202eevil\u2066",
    "&lt;&#124;",
    "   ",
)
TEXTS = (
    st.sampled_from(HOSTILE)
    | st.text()
    | st.text(alphabet="`|\\ \n-#![]()<>&;ab", max_size=12)
    | st.lists(st.sampled_from(HOSTILE), min_size=2, max_size=4).map("".join)
)
INERT = {
    *("bullet_list", "list_item", "paragraph", "table", "thead", "tbody", "tr", "th", "td"),
    *("inline", "text", "code_inline", "softbreak", "fence"),
}


def tokens(text: str) -> Iterator[Token]:
    """All that a reader of Markdown sees in a text; only what Weir itself writes may be there."""
    for block in READER.parse(text):
        for one in (block, *(block.children or ())):
            assert one.type.removesuffix("_open").removesuffix("_close") in INERT, one.type
            yield one


def spans(text: str) -> list[str]:
    return [one.content for one in tokens(text) if one.type == "code_inline"]


@given(TEXTS)
def test_a_list_of_hostile_lines_is_a_list_of_their_texts(text: str) -> None:
    seen = display.bullets([text, "next"])
    wanted = [one_line(text)] if text else []
    assert spans(seen) == [*wanted, "next"]
    assert [one.content for one in tokens(seen) if one.type == "text"] == []
    if text:
        assert display.bullet_texts(seen) == [f"- {one_line(text)}", "- next"]


@given(TEXTS, TEXTS)
@example("a\\|b", "c\\")
def test_a_hostile_cell_stays_in_its_cell(first: str, second: str) -> None:
    seen = display.table(["name", first], [[first, 7], [second, first]])
    cells: list[str] = []
    for one in READER.parse(seen):
        if one.type in ("th_open", "td_open"):
            cells.append("")
        elif one.type == "inline":
            cells[-1] = "".join(part.content for part in one.children or ())
    list(tokens(seen))
    told = [one_line(first), one_line(second)]
    assert cells == ["name", told[0], told[0], "7", told[1], told[0]]


@given(TEXTS)
def test_a_hostile_text_does_not_leave_its_block(text: str) -> None:
    block = display.code_block(text)
    (fence,) = tokens(block)
    assert fence.content == visible(text) + "\n"
    assert display.block_lines(block) == visible(text).split("\n")


@given(TEXTS)
def test_nothing_that_is_not_seen_is_left(text: str) -> None:
    assert one_line(text).isprintable()
    assert all(one.isprintable() or one in "\n\t" for one in visible(text))


@given(TEXTS)
def test_json_means_the_same_and_is_printable(text: str) -> None:
    import json

    said = visible_json({text: [text]})
    assert said.isprintable()
    assert json.loads(said) == {text: [text]}


@pytest.mark.parametrize("sequence", ["\x1b[2J", "\x9b31m", "\x07", "\u202e", "\r", "\x00"])
def test_a_terminal_is_told_nothing(sequence: str) -> None:
    assert sequence not in visible(f"a{sequence}b")
    assert visible("Łódź 漢字 naïve") == "Łódź 漢字 naïve"
