"""What a landing is, wherever it lies: objects that can be listed and read.

Put here what all kinds of landings share. Not here: each kind (``s3_landing``, ``folder_landing``), opening a feed's
landing (``landings``), what an object holds (``transforms/records``), and which objects were read before
(``bookkeeping/ledger``).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from assets.landing.day_listing import Days
from assets.landing.inside import REMEDY, LeadsOut
from transforms.feed.object_paths import matches

_TEMPORARY = (".tmp", ".temp", ".part", ".partial", ".inprogress", ".crdownload", ".swp", "~")

_TEMPORARY_FOLDERS = {"_temporary"}

_BESIDE_VALUES = re.compile(r".*\+[0-9]+\+[0-9]+\.(keys|headers)\.[^/]*")
"""What Confluent's S3 sink writes beside each object of values: ``<topic>+<partition>+<offset>.keys.json``.

Vendor: ``store.kafka.keys`` and ``store.kafka.headers``,
https://docs.confluent.io/kafka-connectors/s3-sink/current/configuration_options.html, and in its code
``io.confluent.connect.s3.util.Utils.getAdjustedFilename``.
"""

_OF_PART = {
    part: f"{part} of Kafka records, which a sink wrote beside their values, and which are not read"
    for part in ("keys", "headers")
}

_SHOWN = 20


@dataclass(frozen=True, slots=True)
class LandedObject:
    """One object of a landing. ``name`` is relative to the landing; a new ``generation`` is new content."""

    name: str
    generation: str
    size: int
    modified_at: datetime
    window: str


@dataclass(slots=True)
class LeftOut:
    """What a listing passed over: how many objects, and the first of them with the reason.

    ``links``: a sentence for each of the first of them that are links out of the landing's folder. Somebody may believe
    that these are read, so they are named before all others. ``parts``: what a sink wrote beside the values of Kafka
    records, one for each drop: by the sentence on them, how many such objects there are, and the first of them.
    """

    count: int = 0
    examples: list[str] = field(default_factory=list)
    links: list[str] = field(default_factory=list)
    parts: dict[str, tuple[int, str]] = field(default_factory=dict)

    def add(self, name: str, reason: str) -> None:
        """Count one object."""
        self.count += 1
        if reason in _OF_PART.values():
            count, first = self.parts.get(reason, (0, name))
            self.parts[reason] = (count + 1, first)
        elif len(self.examples) < _SHOWN:
            self.examples.append(f"{name}: {reason}")

    def add_link(self, name: str, leads_to: str) -> None:
        """Count one link out of the landing's folder."""
        self.count += 1
        if len(self.links) < _SHOWN:
            self.links.append(f"{name}: {LeadsOut(leads_to)}. {REMEDY}")

    def __iter__(self) -> Iterator[str]:
        """One sentence per example, one on all parts of Kafka records of a kind, and one on how many more there are."""
        named = [*self.links, *self.examples][:_SHOWN]
        of_parts = sum(count for count, _ in self.parts.values())
        yield from named
        for reason, (count, first) in self.parts.items():
            yield f"{first}{f' and {count - 1} more' if count > 1 else ''}: {reason}"
        if self.count > len(named) + of_parts:
            yield f"and {self.count - len(named) - of_parts} more"


class Landing(Protocol):
    """A place where drops lie. ``left_out`` is complete once ``list`` has been read to its end."""

    @property
    def left_out(self) -> LeftOut:
        """What the last listing passed over."""
        ...

    def list(self, days: Days | None = None) -> Iterator[LandedObject]:
        """Every object that fits the feed's files, in the order of names.

        ``days``: the caller needs only objects of these days; others may come, too.
        """
        ...

    def read(self, name: str, generation: str, most: int) -> tuple[bytes, str]:
        """The object's bytes, and the generation they are of: a newer one if it was replaced since.

        Of an object with more than ``most`` bytes only ``most`` + 1 are read, so that the caller sees it is too large.
        """
        ...


def reason_to_leave_out(name: str, globs: Sequence[str]) -> str | None:
    """Why a listing passes over an object of this name; None where it is a drop."""
    *folders, file = name.split("/")
    if any(folder.startswith(".") for folder in folders) or file.startswith("."):
        return "hidden"
    if file.startswith("_"):
        return "a marker: its name begins with an underscore"
    if file.endswith(_TEMPORARY) or _TEMPORARY_FOLDERS.intersection(folders):
        return "temporary"
    beside = _BESIDE_VALUES.fullmatch(file)
    if beside and not any(f".{beside[1]}" in glob for glob in globs):
        return _OF_PART[beside[1]]
    if not any(matches(name, glob) for glob in globs):
        return f"does not match {' or '.join(globs)}"
    return None
