"""A cut for other engines: views in SQL, each of one gold table at the version that is the cut."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from assets.cuts.chosen import chosen, unbroken
from assets.cuts.record import Recorded, reached_cuts
from assets.cuts.words import ahead_in_words
from assets.storage.lake import Lake
from assets.wording import counted
from transforms.errors import CutRefused
from transforms.feed.feed import Feed


def _by_spark(name: str, place: str, version: int) -> str:
    table = f"delta.{_between('`', place)}"
    return f"CREATE OR REPLACE TEMPORARY VIEW {_between('`', name)} AS SELECT * FROM {table} VERSION AS OF {version};"


def _by_duckdb(name: str, place: str, version: int) -> str:
    # Its own name of Amazon's protocol; and in an address these would begin something else.
    address = place.replace("s3a://", "s3://", 1).replace("%", "%25").replace("#", "%23")
    text = address if "://" in place else place
    table = f"delta_scan({_between(chr(39), text)}, version => {version})"
    return f"CREATE OR REPLACE VIEW {_between(chr(34), name)} AS SELECT * FROM {table};"


def _between(mark: str, text: str) -> str:
    return f"{mark}{text.replace(mark, mark * 2)}{mark}"


VIEWS: Final[Mapping[str, Callable[[str, str, int], str]]] = {
    "spark": _by_spark,
    "duckdb": _by_duckdb,
}
"""By the engine's name the statement that makes a table known as it is in a cut."""


def at_position(lake: Lake, feed: Feed, asked: str) -> Recorded:
    """The last recorded cut at or below a position, as it was when a newer one followed it.

    Raises:
        CutRefused: there is none, or its versions lack what came late.
    """
    known = reached_cuts(lake, feed.name)
    if not known:
        return Recorded(None, ("no run has come to one",))
    cut = chosen(feed, known, asked)
    if cut.late_events and cut is not known[-1]:
        came = counted(cut.late_events, "event")
        raise CutRefused(
            feed.name,
            f"{came} at or below the cut {cut.text} came after it was recorded, which its versions may lack."
            f" `weir query --at {cut.text}` has its rows",
        )
    return Recorded(cut, cut.held_by)


def view_lines(lake: Lake, feed: Feed, found: Recorded, engine: str) -> Iterator[str]:
    """The statements for all tables of a cut, behind a comment that says which that is.

    Raises:
        CutRefused: there is no cut, or no version of a table is exactly it.
    """
    cut = found.cut
    if cut is None or not cut.is_reached:
        raise CutRefused(feed.name, f"no cut is recorded yet: {'; '.join(found.held_by)}")
    unbroken(feed, cut)
    ahead = [one for one in cut.tables if one.keys_ahead != 0]
    if ahead:
        states = ", ".join(f"{feed.name}.{one.name} is {ahead_in_words(one)}" for one in ahead)
        held = f" It is held back by: {'; '.join(found.held_by)}." if found.held_by else ""
        raise CutRefused(
            feed.name,
            f"no version of some tables is exactly the cut {cut.text}: gold.{states}.{held}"
            f" `weir query --at {cut.text}` has its rows",
        )
    yield f"-- {feed.name}: all tables as of {cut.text}, recorded at {cut.recorded_at:%Y-%m-%d %H:%M:%S} UTC"
    root = lake.warehouse.rstrip("/")
    for one in cut.tables:
        yield VIEWS[engine](one.name, f"{root}/{one.path}", one.version)
