"""Plain text in which nothing acts: a terminal, an editor or a mail program shows every character of it.

Put here what is true of text wherever it is read. Not here: Markdown (``markdown``).
"""

from __future__ import annotations

import json
from typing import Any


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


def in_yaml(text: str) -> str:
    """The text in YAML's double quotes, where characters that are not seen are YAML's own escapes."""
    whole = json.dumps(text, ensure_ascii=False)
    if whole.isprintable():
        return whole
    return "".join(one if one.isprintable() else _escape(one) for one in whole)


def _escape(one: str) -> str:
    return one.encode("unicode_escape").decode()
