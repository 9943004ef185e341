"""``weir status``: how every feed stands, and what its source can never tell.

Put here how the status reads. Not here: how it is found (``assets/audit/status``).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from assets.audit.status import Status, status_of
from assets.lake import Lake
from assets.landing.kafka import topics
from assets.wording import counted
from orchestration.cli import session
from orchestration.cli.options import Place
from orchestration.cli.session import some
from orchestration.console import say, waiting
from transforms.errors import UnreadableLanding
from transforms.feed.feed import Feed
from transforms.formats import FORMATS
from transforms.silver.accounting import OUTCOMES


def status(place: Place, only: Sequence[str]) -> int:
    """Print how the feeds stand; returns the exit code, which is always 0."""
    chosen = session.choose(place.feeds, only)
    lake = session.reached(place.warehouse)
    say(f"the tables are in {lake.warehouse}")
    for feed in chosen:
        with waiting(f"looking at {feed.name}"):
            lines = [*status_lines(lake, feed)]
        print("\n".join(lines), flush=True)
    return 0


def status_lines(lake: Lake, feed: Feed) -> Iterator[str]:
    """How one feed stands, line by line."""
    yield f"{feed.name}: {feed.format} from {feed.landing}"
    found = status_of(lake, feed)
    if found is None:
        yield "  nothing was read yet: `weir run` reads what has landed"
    else:
        yield from _of_tables(found)
    yield from _of_topics(feed)
    for sentence in FORMATS[feed.format].unknowable:
        yield f"  cannot be known: {sentence}"


def _of_topics(feed: Feed) -> Iterator[str]:
    """Why records of the feed's topics cannot be read yet; nothing where it reads no topics."""
    if not feed.reads_topics:
        return
    try:
        for line in topics.undecided(topics.look(feed)):
            yield f"  not to be read yet: {line}"
    except UnreadableLanding as fault:
        yield f"  the topics cannot be asked now: {fault}"


def _of_tables(found: Status) -> Iterator[str]:
    """What the feed's tables say: windows, events, gold tables, and what waits or was noticed."""
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
    for table in found.gold:
        since = f", newest change at the source {table.newest}" if table.newest else ""
        yield (
            f"  gold {table.name}: {counted(table.rows, 'row')},"
            f" {counted(table.tombstones, 'tombstone')}{since}"
        )
    for line in found.stopped:
        yield f"  gold is unchanged for {line}"
    if found.reasons:
        dismissed = f"; of these dismissed {found.dismissed:,}" if found.dismissed else ""
        yield f"  quarantine: {_listed(found.reasons)}{dismissed}"
    if found.waiting_tables:
        yield f"  tables that wait to be declared: {_listed(found.waiting_tables)}"
    if found.warnings:
        yield f"  noticed: {_listed(found.warnings)}"
    for transaction in found.open:
        state = "never committed" if transaction.never_committed else "open"
        yield (
            f"  {state} transaction {transaction.id}: {counted(transaction.waiting, 'change')} since window"
            f" {transaction.first_window}"
        )


def _outcome(name: str, number: int) -> str:
    if name in ("changes", "duplicates"):
        return counted(number, name.removesuffix("s"))
    return f"{number:,} {name.replace('_', ' ')}"


def _listed(numbers: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {number:,}" for name, number in sorted(numbers.items()))
