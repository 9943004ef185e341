"""The feed file that `weir onboard` writes: its text, its place, and the feed that it declares.

Put here what is done with a proposal. Not here: finding it (``transforms/proposing``), and writing YAML
(``transforms/proposing/feed_file``).
"""

from __future__ import annotations

import tempfile
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from orchestration.cli.feed_files.addresses import Address
from orchestration.feeds.load import load_feed
from transforms.errors import FeedMisdeclared
from transforms.feed.feed import Feed
from transforms.proposing.entries import Entry, Proposal
from transforms.proposing.feed_file import text_of
from transforms.proposing.landing_windows import LandingWindows
from transforms.proposing.recognising import Evidence


@dataclass(frozen=True, slots=True)
class Draft:
    """A feed file that is proposed: its text, the same with an absolute landing, and lines on it for a person."""

    name: str
    text: str
    absolute: str
    lines: tuple[str, ...]


def draft(
    feed: Feed,
    address: Address,
    windows: LandingWindows | None,
    evidence: Evidence,
    proposal: Proposal,
) -> Draft:
    """The feed file by all that was found.

    Args:
        feed: its format and files.
        address: where the drops lie.
        windows: of the objects; None for topics.
        evidence: what speaks for the format.
        proposal: its tables, or what its format has in their place.
    """
    marks = evidence.lines() or ["--format alone: no record of the sample has one of its marks"]
    lines = [f"format {feed.format}", *(f"  {one}" for one in marks)]
    size, why = ("hour", "by the records' timestamps")
    if windows is not None:
        size, why = windows.size, windows.why
    else:
        lines.append(f"window {size}: {why}")
    lines += [f"table {one.name}: {one.says}" for one in proposal.found]
    head = [
        f"Feed {feed.name}: written by `weir onboard` from a sample. Look at all that is called a guess.",
        f"Recognised by {'; '.join(marks)}",
    ]

    def text(landing: str) -> str:
        entries = [Entry("format", feed.format), Entry("landing", landing)]
        if feed.files is not None and not feed.reads_topics:
            entries.append(Entry("files", feed.files, "the objects that are drops"))
        entries.append(Entry("window", size, why))
        if windows is not None and windows.window_path is not None:
            part = "the part of a path that says its window"
            entries.append(Entry("window_path", windows.window_path, part))
        return text_of(_wrapped(head), [*entries, *proposal.entries])

    return Draft(feed.name, text(address.written), text(address.landing), tuple(lines))


def _wrapped(head: Sequence[str]) -> list[str]:
    return [part for line in head for part in textwrap.wrap(line, 116, break_on_hyphens=False)]


def place_of(feeds: Path, name: str) -> Path:
    """Where the feed file of a name goes."""
    return feeds.expanduser().resolve() / f"{name}.yaml"


def refuse_existing(file: Path) -> None:
    """Refuse to write over a feed file.

    Raises:
        FeedMisdeclared: there is one already.
    """
    for one in (file, file.with_suffix(".yml")):
        if one.exists():
            fault = "there is one already: give the feed another name with --name, write over it with --force, or"
            raise FeedMisdeclared(
                str(one), "the feed file", f"{fault} look at the proposal with --print"
            )


def write(file: Path, text: str) -> None:
    """Write the feed file; its folder is made where there is none.

    Raises:
        FeedMisdeclared: it cannot be written there.
    """
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    except OSError as fault:
        raise FeedMisdeclared(
            str(file), "the feed file", f"cannot be written: {fault.strerror}"
        ) from fault


def loaded(draft: Draft) -> Feed:
    """The feed that the proposal declares, as `weir run` would read it.

    Raises:
        FeedMisdeclared: it is no valid feed file.
    """
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / f"{draft.name}.yaml"
        file.write_text(draft.absolute, encoding="utf-8")
        return load_feed(file)
