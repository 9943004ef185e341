"""A proposal as the text of a feed file: YAML with a comment behind each key.

Put here how entries are written. Not here: what they say (``entries``), and where the file goes (``orchestration``).
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Final

from transforms.display.plain import in_yaml, one_line
from transforms.proposing.entries import Entry

_PLAIN: Final = re.compile(r"[A-Za-z_*./][A-Za-z0-9_./:+-]*|[0-9]+")
# In YAML 1.2 some words are no texts; a feed file is read as texts, but other tools may read it, too.
_WORDS: Final = frozenset({"null", "~", "yes", "no", "on", "off", "y", "n"})
_COMMENT_AT: Final = 34
_WIDEST: Final = 118


def text_of(head: Sequence[str], entries: Iterable[Entry]) -> str:
    """The whole file: comment lines first, then the entries."""
    lines = [f"# {one_line(line)}" if line else "#" for line in head]
    return "\n".join([*lines, *lines_of(entries)]) + "\n"


def lines_of(entries: Iterable[Entry], depth: int = 0) -> Iterator[str]:
    """The lines of some keys; what is not needed stands as a comment."""
    for entry in entries:
        if entry.is_needed:
            yield from _lines(entry, depth)
        else:
            if entry.comment:
                yield from _above(entry.comment, "  " * depth)
            for line in _lines(replace(entry, comment=""), 0):
                yield f"{'  ' * depth}# {line}"


def _lines(entry: Entry, depth: int) -> Iterator[str]:
    start = f"{'  ' * depth}{yaml_scalar(entry.name)}:"
    value = entry.value
    if isinstance(value, str):
        yield from _commented(f"{start} {yaml_scalar(value)}", entry.comment)
    elif value and isinstance(value[0], Entry):
        needed = [one for one in value if isinstance(one, Entry)]
        yield from _commented(start, entry.comment)
        yield from lines_of(needed, depth + 1)
    else:
        names = ", ".join(yaml_scalar(one, in_list=True) for one in value if isinstance(one, str))
        yield from _commented(f"{start} [{names}]", entry.comment)


def _commented(line: str, comment: str) -> Iterator[str]:
    """The line with its comment behind it, or above it where both are too long for one line."""
    if not comment:
        yield line
        return
    comment = one_line(comment)
    whole = f"{line.ljust(_COMMENT_AT - 2)}  # {comment}"
    if len(whole) <= _WIDEST:
        yield whole
        return
    indent = line[: len(line) - len(line.lstrip())]
    yield from _above(comment, indent)
    yield line


def _above(comment: str, indent: str) -> Iterator[str]:
    for part in textwrap.wrap(one_line(comment), _WIDEST - len(indent) - 2, break_on_hyphens=False):
        yield f"{indent}# {part}"


def yaml_scalar(text: str, *, in_list: bool = False) -> str:
    """The text as YAML writes it: with quotes where it needs some."""
    is_plain = _PLAIN.fullmatch(text) and text.lower() not in _WORDS and not text.endswith(":")
    is_type = not in_list and re.fullmatch(r"[a-z][a-z0-9_]*(?:[(<][a-z0-9,:_<>()]*[)>])?", text)
    if is_plain or (is_type and text.lower() not in _WORDS):
        # A star in front would be an alias.
        return text if not text.startswith("*") else in_yaml(text)
    return in_yaml(text)
