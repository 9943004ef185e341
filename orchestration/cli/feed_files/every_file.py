"""All feed files of a folder, sound or not: one that is wrong hides no other.

Put here what the commands about feed files begin with. Not here: reading one file (``orchestration/feeds/load``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from orchestration.feeds.load import feed_files, load_feed
from orchestration.feeds.misdeclared import FeedFaults
from transforms.errors import FeedMisdeclared, WeirError
from transforms.feed.feed import Feed


@dataclass(frozen=True, slots=True)
class FeedFile:
    """One feed file: the feed that it declares, or what is wrong with it."""

    name: str
    file: Path
    feed: Feed | None
    faults: tuple[WeirError, ...] = ()


def every_file(folder: Path, only: Sequence[str]) -> list[FeedFile]:
    """The feed files of a folder, or those named, in the order of their names.

    Raises:
        FeedMisdeclared: there is no such folder, no feed file in it, or none of a name that is asked for.
    """
    folder = folder.expanduser().resolve()
    files = feed_files(folder)
    if not files:
        fault = "there is no feed file here; write <feed>.yaml, or call `weir onboard LANDING`"
        raise FeedMisdeclared(str(folder), "the feeds", fault)
    for name in only:
        if name not in files:
            fault = "there is no such feed here"
            raise FeedMisdeclared(str(folder), name, fault, sorted(files))
    return [_read(name, files[name]) for name in only or sorted(files)]


def _read(name: str, file: Path) -> FeedFile:
    try:
        return FeedFile(name, file, load_feed(file))
    except FeedFaults as several:
        return FeedFile(name, file, None, several.faults)
    except WeirError as fault:
        return FeedFile(name, file, None, (fault,))
