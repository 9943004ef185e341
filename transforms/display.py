"""Shows text of sources in terminals, on Dagster's pages and in chats so that no link or markup in it has an effect."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from typing import Any, Final


def visible(text: str) -> str:
    r"""The text with characters that are not seen as escapes, such as ``\x1b``; ends of lines and tabs stay.

    These are control characters (with them escape sequences of terminals), marks that reverse the order in which text
    is read, and the like.
    """
    if text.isprintable():
        return text
    return "".join(one if one.isprintable() or one in "\n\t" else _escape(one) for one in text)


def one_line(text: str) -> str:
    """The text with ends of lines and tabs as escapes, too."""
    if text.isprintable():
        return text
    return "".join(one if one.isprintable() else _escape(one) for one in text)


def hanging(text: str) -> str:
    """The visible text, all its lines but the first indented: none of them looks as if it began something new."""
    return visible(text).replace("\n", "\n  ")


def visible_json(value: object, **layout: Any) -> str:
    """JSON of the value in which invisible characters are written as JSON's own escapes, so that it means the same."""
    return as_visible_json(json.dumps(value, ensure_ascii=False, **layout))


def as_visible_json(document: str) -> str:
    """The same for a document that is JSON already."""
    if document.isprintable():
        return document
    return "".join(
        one
        if one.isprintable() or one == "\n"
        else json.dumps(one)[1:-1].replace("\x7f", "\\u007f")
        for one in document
    )


_PLAIN_YAML: Final = re.compile(r"[A-Za-z_*./][A-Za-z0-9_./:+-]*|[0-9]+")
_TYPE_IN_YAML: Final = re.compile(r"[a-z][a-z0-9_]*(?:[(<][a-z0-9,:_<>()]*[)>])?")
# In YAML such words are no texts; a feed file is read as texts, but other tools may read it, too.
_WORDS_OF_YAML: Final = frozenset({"null", "~", "yes", "no", "on", "off", "y", "n"})


def yaml_scalar(text: str, *, in_brackets: bool = False) -> str:
    """The text as YAML writes it: with quotes where it needs some; ``in_brackets``: where a comma would end it."""
    is_plain = _PLAIN_YAML.fullmatch(text) and not text.endswith(":")
    is_type = not in_brackets and _TYPE_IN_YAML.fullmatch(text)
    # A star in front would be an alias.
    is_read_as_it_is = text.lower() not in _WORDS_OF_YAML and not text.startswith("*")
    return text if (is_plain or is_type) and is_read_as_it_is else _in_quotes(text)


def _in_quotes(text: str) -> str:
    """The text in YAML's double quotes, where characters that are not seen are YAML's own escapes."""
    whole = json.dumps(text, ensure_ascii=False)
    if whole.isprintable():
        return whole
    return "".join(one if one.isprintable() else _escape(one) for one in whole)


def _escape(one: str) -> str:
    return one.encode("unicode_escape").decode()


# Markdown for Dagster's pages, in which text of sources is no markup: no image, link, HTML, heading or table's end. All
# that is not written in Weir's own code goes into a code span or block. Escapes of single signs would not do: Dagster's
# pages look for addresses in the text that is left when all escapes are read.


class Markdown(str):
    """Text that can be shown as Markdown: what it has of a source is inert."""

    __slots__ = ()


NO_MARKDOWN: Final = Markdown("")


def code(value: object) -> Markdown:
    """Anything as a code span of one line, in which it reads as it is; empty for an empty text."""
    text = one_line(str(value))
    if not text:
        return NO_MARKDOWN
    quotes = "`" * (1 + max(map(len, re.findall("`+", text)), default=0))
    # A reader takes one space off both ends where both have one.
    is_padded = text[0] == "`" or text[-1] == "`" or (text[0] == text[-1] == " " and text.strip())
    pad = " " if is_padded else ""
    return Markdown(f"{quotes}{pad}{text}{pad}{quotes}")


def own_words(text: str) -> Markdown:
    """Markdown that stands in Weir's own code, numbers included; never what a source wrote."""
    return Markdown(text)


def own_head(*names: str) -> list[Markdown]:
    """The heads of a table that stand in Weir's own code."""
    return [own_words(name) for name in names]


def bullets(lines: Iterable[object]) -> Markdown:
    """A list of lines, each as a code span, unless it is Markdown already."""
    return Markdown(
        "\n".join(f"- {one if isinstance(one, Markdown) else code(one)}" for one in lines)
    )


def bullet_texts(seen: str) -> list[str]:
    """The first paragraph of Markdown as plain lines: what ``bullets`` was given, where code spans are its lines."""
    return [bullet_text(line) for line in seen.split("\n\n", 1)[0].splitlines()]


_BULLET: Final = re.compile(r"- (`+)(.*?)\1")


def bullet_text(line: str) -> str:
    """A line of ``bullets`` as a person reads it at a terminal; any other line as it is."""
    found = _BULLET.fullmatch(line)
    if found is None:
        return line
    text = found[2]
    is_padded = text[0] == text[-1] == " " and text.strip()
    return f"- {text[1:-1] if is_padded else text}"


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> Markdown:
    """A table; names and cells are code, unless they are numbers or Markdown already."""
    lines = [map(_cell, head), ("---" for _ in head), *(map(_cell, row) for row in rows)]
    return Markdown("\n".join("| " + " | ".join(cells) + " |" for cells in lines))


def code_block(text: str, language: str = "text") -> Markdown:
    """Lines as they are; ``language``: what they are written in."""
    text = visible(text)
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", text)), default=0))
    return Markdown(f"{fence}{language}\n{text}\n{fence}")


def block_lines(block: str) -> list[str]:
    """The lines of a ``code_block``."""
    return block.split("\n")[1:-1]


def paragraphs(parts: Iterable[Markdown]) -> Markdown:
    """Pieces of Markdown below one another; empty ones are left out."""
    return Markdown("\n\n".join(filter(None, parts)))


def _cell(value: object) -> str:
    if isinstance(value, bool | int | float | Markdown):
        return str(value)
    # Cells are told apart before anything else is read, and not by all readers alike where a backslash is before a
    # bar: so no bar stands in code.
    return "&#124;".join(code(part) for part in str(value).split("|"))
