"""``weir status``: how every feed stands, and what its source can never tell."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from assets.audit.status import Status, status_of
from assets.lake import Lake
from assets.landing.kafka import topics
from assets.wording import counted
from orchestration.cli import session
from orchestration.cli.options import Place
from orchestration.cli.session import choose, some
from orchestration.console import say, waiting
from transforms.errors import UnreadableLanding
from transforms.feed.feed import Feed
from transforms.formats import FORMATS
from transforms.silver.accounting import OUTCOMES


def status(place: Place, only: Sequence[str]) -> int:
    """Print how the feeds stand; returns the exit code, 0."""
    chosen = choose(place.feeds, only)
    lake = session.reached(place.warehouse)
    say(f"the tables are in {lake.warehouse}")
    for feed in chosen:
        with waiting(f"looking at {feed.name}"):
            lines = [*told(lake, feed)]
        print("\n".join(lines), flush=True)
    return 0


def told(lake: Lake, feed: Feed) -> Iterator[str]:
    """One feed, line by line."""
    yield f"{feed.name}: {feed.format} from {feed.landing}"
    found = status_of(lake, feed)
    if found is None:
        yield "  nothing was read yet: `weir run` reads what has landed"
    else:
        yield from _of(found)
    yield from _of_topics(feed)
    for sentence in FORMATS[feed.format].unknowable:
        yield f"  cannot be known: {sentence}"


def _of_topics(feed: Feed) -> Iterator[str]:
    """What the feed's topics have that no table can tell."""
    if not feed.reads_topics:
        return
    try:
        for line in topics.undecided(topics.look(feed)):
            yield f"  not to be read yet: {line}"
    except UnreadableLanding as fault:
        yield f"  the topics cannot be asked now: {fault}"


def _of(found: Status) -> Iterator[str]:
    newest = f", the newest {found.newest}" if found.newest else ""
    yield f"  windows: {found.windows:,} in gold{newest}" + (
        f"; not yet: {some(found.unfinished)}" if found.unfinished else ""
    )
    if found.outcomes:
        parts = " + ".join(
            _outcome(name, found.outcomes[name])
            for name in OUTCOMES
            if found.outcomes[name] or name == "changes"
        )
        yield f"  events: {found.outcomes['events']:,} = {parts}"
    for one in found.gold:
        since = f", changed at the source by {one.newest}" if one.newest else ""
        yield (
            f"  gold {one.name}: {counted(one.rows, 'row')},"
            f" {counted(one.tombstones, 'tombstone')}{since}"
        )
    for line in found.stopped:
        yield f"  gold stays as it was of {line}"
    if found.reasons:
        dismissed = f"; of these dismissed {found.dismissed:,}" if found.dismissed else ""
        yield f"  quarantine: {_listed(found.reasons)}{dismissed}"
    if found.waiting_tables:
        yield f"  tables that wait to be declared: {_listed(found.waiting_tables)}"
    if found.warnings:
        yield f"  noticed: {_listed(found.warnings)}"
    for still in found.open:
        word = "never committed" if still.never_committed else "open"
        yield (
            f"  {word} transaction {still.id}: {counted(still.waiting, 'change')} since window"
            f" {still.first_window}"
        )


def _outcome(name: str, number: int) -> str:
    if name in ("changes", "duplicates"):
        return counted(number, name.removesuffix("s"))
    return f"{number:,} {name.replace('_', ' ')}"


def _listed(numbers: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {number:,}" for name, number in sorted(numbers.items()))
