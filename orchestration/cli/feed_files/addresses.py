"""The landing as a person names it on the command line: its address, and the name that a feed of it would have.

Put here what is made of such a text. Not here: what a feed file may say of a landing
(``orchestration/feeds/landings``).
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from orchestration.feeds.keys import DeclaredFeed
from orchestration.feeds.landings import landing_from
from transforms.errors import FeedMisdeclared

_TIME: Final = re.compile(r"(?:dt|date|day|hour|hr|year|month|tablet|stream)=.*|[0-9T:Z_-]+")
_NAME: Final = re.compile(r"[a-z][a-z0-9_]*")


@dataclass(frozen=True, slots=True)
class Address:
    """A landing: ``landing`` as Weir reads it, ``written`` as the feed file has it, relative to that file.

    ``files``: which objects are drops, where the person says so; ``name``: the feed's name.
    """

    landing: str
    written: str
    files: str | None
    name: str


def address_of(text: str, files: str | None, name: str | None, feeds: Path) -> Address:
    """The address of a landing; a single file is its folder, with that file alone.

    Raises:
        FeedMisdeclared: it is no address, or the feed's name is none.
    """

    def misdeclared(key: str, fault: str, known: Collection[str] = ()) -> FeedMisdeclared:
        return FeedMisdeclared("weir onboard", "LANDING" if key == "landing" else key, fault, known)

    is_folder = "://" not in text
    path = Path(text).expanduser()
    if is_folder and path.is_file():
        text, files, path = str(path.parent), files or path.name, path.parent
    # Any format that reads topics will do: only the landing's form is checked.
    declared = DeclaredFeed(format="debezium", landing=text)
    landing = landing_from(declared, Path.cwd(), misdeclared)
    written = landing
    if is_folder and not path.is_absolute() and not text.startswith("~"):
        written = os.path.relpath(landing, feeds.expanduser().resolve())
    found = name or name_of(landing)
    if not _NAME.fullmatch(found):
        fault = "a feed's name is lower-case letters, digits and _, a letter first"
        raise misdeclared("--name", f"{found!r}: {fault}")
    return Address(landing, written, files, found)


def name_of(landing: str) -> str:
    """The name that a feed of the landing has unless another is given: its last part that is no date."""
    parts = [part for part in re.split(r"[/,]", landing.rstrip("/")) if part]
    telling = [part for part in parts if not _TIME.fullmatch(part)]
    last = (telling or parts or ["feed"])[-1]
    plain = re.sub(r"[^a-z0-9]+", "_", last.lower()).strip("_")
    return plain if re.match(r"[a-z]", plain) else f"feed_{plain}".rstrip("_")
