"""The parts of a proposed feed file, keys with values and comments; and the text of the file."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final, NamedTuple, TypeAlias

from transforms.display import one_line, yaml_scalar
from transforms.event import Event
from transforms.feed.feed import Feed
from transforms.record import BronzeRecord


class Mark(NamedTuple):
    """What shows that a record is of a format, in words: the names of its fields, say.

    ``is_sure``: False for what records of other formats may well have, too. It counts where no sure mark was found.
    """

    says: str
    is_sure: bool = True


Recognise: TypeAlias = Callable[[Feed, BronzeRecord], "Mark | None"]
"""What of the format a record shows; None where it shows nothing of it, whatever the record is. It never raises."""

Sampled: TypeAlias = tuple[BronzeRecord, Event]
"""A record of the sample, and an event that the format makes of it."""


_MOST_SHOWN: Final = 3


def first_of(names: Iterable[str]) -> str:
    """Some of the names, and whether there are more."""
    listed = [*names]
    return ", ".join(listed[:_MOST_SHOWN]) + (", …" if len(listed) > _MOST_SHOWN else "")


def records_in(sample: Sequence[Sampled]) -> list[BronzeRecord]:
    """The records of a sample, each once."""
    return [*{id(record): record for record, _ in sample}.values()]


@dataclass(frozen=True, slots=True)
class Entry:
    """One key of a feed file: its value is a text, a list of texts, or keys of its own; ``comment`` has the evidence.

    ``is_needed``: False for what the stream says itself, so that the file need not: it is written as a comment.
    """

    name: str
    value: str | tuple[str, ...] | tuple[Entry, ...]
    comment: str = ""
    is_needed: bool = True


class Found(NamedTuple):
    """A table, predicate or type that was found, for a person to read in one line."""

    name: str
    says: str


@dataclass(frozen=True, slots=True)
class Proposal:
    """What a feed file should say of its tables: ``entries`` are keys of the file, ``found`` what they are about.

    ``notes`` are sentences on what a person should decide or know.
    """

    entries: tuple[Entry, ...] = ()
    found: tuple[Found, ...] = ()
    notes: tuple[str, ...] = ()


Propose: TypeAlias = Callable[[Feed, Sequence[Sampled]], Proposal]
"""What a feed of the format should declare, by a sample of its records and events."""


_COMMENT_AT: Final = 34
_WIDEST: Final = 118


def file_text(head: Sequence[str], entries: Iterable[Entry]) -> str:
    """The whole file: comment lines first, then the entries."""
    lines = [f"# {one_line(line)}" if line else "#" for line in head]
    return "\n".join([*lines, *file_lines(entries)]) + "\n"


def file_lines(entries: Iterable[Entry], depth: int = 0) -> Iterator[str]:
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
        yield from file_lines(needed, depth + 1)
    else:
        names = ", ".join(
            yaml_scalar(one, in_brackets=True) for one in value if isinstance(one, str)
        )
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
