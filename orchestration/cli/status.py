"""``weir status``: the state of every feed, in a line, in detail, or as JSON."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from typing import Any

import click

from assets.audit.status import Status, status_of
from assets.bronze.from_objects import arrivals
from assets.cuts.record import newest
from assets.landing import kafka
from assets.source.health import look
from assets.storage.lake import Lake
from assets.wording import counted
from orchestration.cli import session
from orchestration.cli.cut import cut_lines
from orchestration.cli.options import Place, in_place, of_feeds
from orchestration.cli.session import some
from orchestration.console import put_json, put_lines, say, waiting
from orchestration.observability.last_look import last_look
from orchestration.sheets import Grid, Sheet
from transforms.errors import UnreadableLanding
from transforms.feed.feed import Feed
from transforms.feed.windows import STEPS, parse_window
from transforms.formats import FORMATS
from transforms.quantities import spoken_seconds
from transforms.silver.accounting import OUTCOMES
from transforms.source_health import Finding, SourceFacts, figures, findings


@click.command("status")
@in_place
@of_feeds
@click.option(
    "--details",
    "style",
    flag_value="details",
    help="All that is known of each feed, its limits too.",
)
@click.option("--json", "style", flag_value="json", help="The same for programs.")
@click.option(
    "--source",
    "of_source",
    is_flag=True,
    help="Ask how each source stands, and exit with 1 where something of it is lost or beyond a limit that fails; with"
    " --json for programs.",
)
@click.option(
    "--max-age",
    type=click.FloatRange(min=0),
    metavar="HOURS",
    help="Exit with 1 where a feed's newest window in gold ended longer ago.",
)
def status_command(
    place: Place,
    only: tuple[str, ...],
    style: str | None,
    of_source: bool,
    max_age: float | None,
) -> None:
    """Say how each feed stands, in a line each: windows, events, quarantine, and what waits.

    It counts what has been read already. What is new in the landing is for `weir run` to find.
    """
    chosen = session.choose(place.feeds, only)
    lake = session.reached(place.warehouse)
    say(f"the tables are in {lake.warehouse}")
    if of_source:
        ill = put_sources(lake, chosen, is_json=style == "json")
        if ill:
            say(f"not well: {', '.join(ill)}")
            sys.exit(1)
        return
    found: list[tuple[Feed, Status | None]] = []
    for feed in chosen:
        with waiting(f"looking at {feed.name}"):
            found.append((feed, status_of(lake, feed)))
            if style == "details":
                put_lines(status_lines(feed, found[-1][1]))
                put_lines(last_look_lines(feed, last_look(lake, feed)))
                put_lines(f"  {line.strip()}" for line in cut_lines(feed, newest(lake, feed)))
    if style == "json":
        put_json([as_json(feed, one) for feed, one in found])
    elif style is None:
        print_table(found)
        for feed, one in found:
            for line in erasure_lines(feed, one):
                say(line)
        say(
            "what has landed since is not counted here: `weir run` finds it, and `weir status --details` names what no"
            " run reads"
        )
    if max_age is None:
        return
    oldest = datetime.now(UTC) - timedelta(hours=max_age)
    stale = [feed.name for feed, one in found if is_stale(feed, one, oldest)]
    if stale:
        say(f"older than that: {', '.join(stale)}")
        sys.exit(1)


def put_sources(lake: Lake, feeds: Sequence[Feed], *, is_json: bool) -> list[str]:
    """Print how the feeds' sources stand now; the feeds of which something is lost, or beyond a limit that fails."""
    documents: list[object] = []
    ill = []
    for feed in feeds:
        with waiting(f"looking at the source of {feed.name}"):
            facts = look(lake, feed, datetime.now(UTC))
        found = findings(facts, feed.running.health)
        if is_json:
            documents.append(source_as_json(feed, facts, found))
        else:
            put_lines(source_lines(feed, facts, found))
        if any(one.level == "failing" for one in found):
            ill.append(feed.name)
    if is_json:
        put_json(documents)
    return ill


def source_as_json(feed: Feed, facts: SourceFacts, found: Sequence[Finding]) -> dict[str, object]:
    """How a source stands for programs: what was measured, under its names in ``SourceFacts``, and what follows."""
    failing = any(one.level == "failing" for one in found)
    measured: Any = json.loads(json.dumps(asdict(facts), default=datetime.isoformat))
    for shown, one in zip(measured["partitions"] or (), facts.partitions or (), strict=True):
        shown |= {"unread": one.unread, "lost": one.lost}
    for shown, slot in zip(measured["slots"] or (), facts.slots or (), strict=True):
        shown |= {"lag": slot.lag, "wal_kept": slot.wal_kept, "is_lost": slot.is_lost}
    if facts.binary_logs is not None:
        logs = facts.binary_logs
        measured["binary_logs"] |= {"lag": logs.lag, "purged_unread": logs.purged_unread}
    return {
        "feed": feed.name,
        "state": "failing" if failing else "warning" if found else "well",
        "findings": [asdict(one) for one in found],
        **measured,
    }


def last_look_lines(feed: Feed, facts: SourceFacts | None) -> Iterator[str]:
    """What the last look at a source has found, where there was one."""
    if facts is not None:
        found = findings(facts, feed.running.health)
        says = "; ".join(one.says for one in found) or "well"
        yield f"  the source, at {in_utc(facts.looked_at)}: {says}"


def source_lines(feed: Feed, facts: SourceFacts, found: Sequence[Finding]) -> Iterator[str]:
    """How a source stands: what is wrong first, then each figure."""
    yield f"{feed.name}: {counted(len(found), 'finding')}"
    for one in found:
        yield f"  {'failed' if one.level == 'failing' else 'warning'}: {one.says}"
    for table in facts.tables:
        if table.newest_event_at is None:
            yield f"  table {table.table}: no event tells its time"
        else:
            age = spoken_seconds(facts.age(table.newest_event_at).total_seconds())
            yield f"  table {table.table}: newest event {age} old, of {in_utc(table.newest_event_at)}"
    for part, figure, more in figures(facts):
        yield f"  {part}: {figure}; {more}"


def in_utc(moment: datetime) -> str:
    """A moment to the second, as a person reads it."""
    return f"{moment.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"


def print_table(found: Sequence[tuple[Feed, Status | None]]) -> None:
    """Print a line for each feed."""
    table = Grid(is_narrow=True)
    table.column("feed", "anywhere")
    table.column("newest", "never")
    for name in ("windows", "events", "quarantined"):
        table.numbers(name, "never")
    table.column("state", "never")
    for feed, one in found:
        if one is None:
            table.row(feed.name, "-", "-", "-", "-", in_a_word(one))
            continue
        numbers = (one.windows, one.outcomes.get("events", 0), one.open_records)
        cells = [f"{number:,}" for number in numbers]
        table.row(feed.name, one.newest or "-", *cells, in_a_word(one))
    Sheet(width=80).grid(table)


def in_a_word(found: Status | None) -> str:
    """What most needs somebody's attention."""
    if found is None:
        return "never read"
    if found.erasures:
        return "erasure unfinished"
    if found.stopped:
        return f"{counted(len(found.stopped), 'gold table')} stopped"
    if found.unfinished:
        return f"{counted(len(found.unfinished), 'window')} behind"
    if any(one.never_committed for one in found.open):
        return "never committed"
    if found.waiting_tables:
        return f"{counted(len(found.waiting_tables), 'table')} not declared"
    return "in gold"


def erasure_lines(feed: Feed, found: Status | None) -> Iterator[str]:
    """A sentence for each erasure that is not finished, with what to type."""
    for one in found.erasures if found else ():
        what = f"of {one.table}" if one.table else "of what landed again"
        yield (
            f"{feed.name}: erasure {one.id} {what}, begun at {in_utc(one.at)}, is not finished:"
            f" `weir run {feed.name}` finishes it"
        )


def is_stale(feed: Feed, found: Status | None, oldest: datetime) -> bool:
    """Whether the feed's newest window in gold had ended before this moment, or there is none."""
    if found is None or found.newest is None:
        return True
    return parse_window(found.newest, feed.window) + STEPS[feed.window] < oldest


def as_json(feed: Feed, found: Status | None) -> dict[str, object]:
    """The state of a feed for programs: the parts of ``Status``, under their names, and the feed's own facts."""
    facts: dict[str, object] = {"feed": feed.name, "format": feed.format, "landing": feed.landing}
    facts["state"] = in_a_word(found)
    facts["cannot_be_known"] = list(FORMATS[feed.format].unknowable)
    if found is None:
        return facts
    parts: dict[str, object] = json.loads(json.dumps(asdict(found), default=str))
    return facts | parts


def status_lines(feed: Feed, found: Status | None) -> Iterator[str]:
    """All that is known of one feed, line by line."""
    yield f"{feed.name}: {feed.format} from {feed.landing}"
    if found is None:
        yield "  nothing was read yet: `weir run` reads what has landed"
    else:
        yield from _of_tables(feed, found)
    yield from _of_topics(feed) if feed.reads_topics else _of_landing(feed)
    for sentence in FORMATS[feed.format].unknowable:
        yield f"  cannot be known: {sentence}"


def _of_topics(feed: Feed) -> Iterator[str]:
    """Why records of the feed's topics cannot be read yet."""
    try:
        for line in kafka.undecided_topics(kafka.look_at_topics(feed)):
            yield f"  not to be read yet: {line}"
    except UnreadableLanding as fault:
        yield f"  the topics cannot be asked now: {fault}"


def _of_landing(feed: Feed) -> Iterator[str]:
    """What lies in the feed's landing and is not read, with the reason."""
    try:
        found = arrivals(feed, lambda _: ())
    except UnreadableLanding as fault:
        yield f"  the landing cannot be listed now: {fault}"
        return
    for what, lines in (("dated", found.out_of_time), ("no drops", found.left_out)):
        if lines:
            yield f"  not read, {what}: {some(lines)}"


def _of_tables(feed: Feed, found: Status) -> Iterator[str]:
    """What the feed's tables say: windows, events, gold tables, and what waits or was noticed."""
    for line in erasure_lines(feed, found):
        yield f"  {line}"
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
            + (f" {table.marked:,} marked as deleted," if table.marked else "")
            + f" {counted(table.tombstones, 'tombstone')}{since}"
        )
    for line in found.stopped:
        yield f"  gold is unchanged for {line}"
    if found.reasons:
        dismissed = f"; of these dismissed {found.dismissed:,}" if found.dismissed else ""
        yield f"  quarantine: {_listed(found.reasons)}{dismissed}"
    if found.open_records:
        number = counted(found.open_records, "record")
        yield f"  to be decided: {number} in quarantine (`weir quarantine list {feed.name}`)"
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
