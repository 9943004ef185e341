"""The parts of a proposed feed file: keys with their values and comments, as plain values.

Put here the shape of a proposal. Not here: how it is written as YAML (``feed_file``), and how its parts are found.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

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
