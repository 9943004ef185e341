"""What a landing is, wherever it lies: objects that can be listed and read.

Put here what all kinds of landings share. Not here: each kind (``s3_landing``, ``folder_landing``), opening a feed's
landing (``landings``), what an object holds (``transforms/records``), and which objects were read before
(``bookkeeping/ledger``).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from assets.landing.day_listing import Days
from assets.landing.inside import REMEDY, LeadsOut
from transforms.feed.object_paths import matches

_TEMPORARY = (".tmp", ".temp", ".part", ".partial", ".inprogress", ".crdownload", ".swp", "~")

_TEMPORARY_FOLDERS = {"_temporary"}

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
    that these are read, so they are named before all others.
    """

    count: int = 0
    examples: list[str] = field(default_factory=list)
    links: list[str] = field(default_factory=list)

    def add(self, name: str, reason: str) -> None:
        """Count one object."""
        self.count += 1
        if len(self.examples) < _SHOWN:
            self.examples.append(f"{name}: {reason}")

    def add_link(self, name: str, leads_to: str) -> None:
        """Count one link out of the landing's folder."""
        self.count += 1
        if len(self.links) < _SHOWN:
            self.links.append(f"{name}: {LeadsOut(leads_to)}. {REMEDY}")

    def __iter__(self) -> Iterator[str]:
        """One sentence per example, and one on how many more there are."""
        named = [*self.links, *self.examples][:_SHOWN]
        yield from named
        if self.count > len(named):
            yield f"and {self.count - len(named)} more"


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
    if not any(matches(name, glob) for glob in globs):
        return f"does not match {' or '.join(globs)}"
    return None
