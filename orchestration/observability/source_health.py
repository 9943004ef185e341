"""The look at a feed's source as a step of Dagster's, kept in the warehouse for the page, the metrics and `status`."""

# No postponed annotations here: Dagster reads the functions' own.
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime

import dagster as dg

from assets.source import checks, health
from assets.storage.lake import Lake
from assets.storage.stored_text import store_text
from orchestration.observability import last_look
from orchestration.observability.metrics import FOLDER, OPEN_METRICS, Family, in_open_metrics
from orchestration.observability.report import html_page
from transforms.addresses import has_credentials
from transforms.errors import TableBusy
from transforms.feed.feed import Feed
from transforms.source_health import (
    BinaryLogs,
    Finding,
    ReplicationSlot,
    SourceFacts,
    findings,
)


def build(feed: Feed) -> dg.AssetChecksDefinition:
    """The checks of the feed's source, on its landing; in a run to gold they are made behind progress."""

    @dg.multi_asset_check(
        name=f"source_health_{feed.name}",
        specs=checks.check_specs(feed),
        can_subset=True,
    )
    def source_health(
        context: dg.AssetCheckExecutionContext, lake: dg.ResourceParam[Lake]
    ) -> Iterator[dg.AssetCheckResult]:
        facts = health.look(lake, feed, datetime.now(UTC))
        found = findings(facts, feed.running.health)
        for fault in publish(lake, feed, facts, found):
            context.log.warning(f"{feed.name}: {fault}")
        asked = {one.name for one in context.selected_asset_check_keys}
        yield from (one for one in checks.results(feed, found) if one.check_name in asked)

    return source_health


def publish(lake: Lake, feed: Feed, facts: SourceFacts, found: Sequence[Finding]) -> Iterator[str]:
    """Store a look for `status`, the metrics and the feed's page; yields what could not be written, in sentences."""
    try:
        last_look.keep_look(lake, feed, facts)
    except TableBusy as busy:
        yield f"the look was not kept: {busy}"
    folder = os.environ.get(FOLDER, "").strip().rstrip("/")
    try:
        if folder and not has_credentials(folder):
            text = metrics_text(feed, facts, found)
            store_text(f"{folder}/weir_{feed.name}_source.prom", text, OPEN_METRICS)
        with html_page.making(lake, feed) as put:
            put(html_page.make_report(lake, feed, facts.looked_at))
    except Exception as fault:  # the look is stored, and what it found is told by the checks
        yield f"the metrics or the page could not be written: {fault}"


def metrics_text(feed: Feed, facts: SourceFacts, found: Sequence[Finding]) -> str:
    """A look as OpenMetrics text; what it did not measure is left out."""
    levels = [one.level for one in found]
    every = (
        _of_look(facts, {one: levels.count(one) for one in ("warning", "failing")}),
        _of_slots(facts.slots or ()),
        () if facts.binary_logs is None else _of_binary_logs(facts.binary_logs),
    )
    families = (one for some in every for one in some if one.numbers)
    return in_open_metrics(feed.name, families)


def _family(
    name: str, says: str, numbers: Iterable[tuple[str, float | None]], label: str = ""
) -> Family:
    """One metric of a source, of what is known."""
    known = [(value, number) for value, number in numbers if number is not None]
    return Family(f"source_{name}", says, known, label)


def _seconds(moment: datetime | None) -> float | None:
    return None if moment is None else moment.timestamp()


def _of_look(facts: SourceFacts, levels: Mapping[str, int]) -> Iterator[Family]:
    looked_at = [("", _seconds(facts.looked_at))]
    yield _family("look_time_seconds", "When the source was looked at", looked_at)
    says = "What is wrong with the source, by how bad it is"
    yield _family("findings", says, levels.items(), "level")
    events = [(one.table, _seconds(one.newest_event_at)) for one in facts.tables]
    says = "When the source made the newest event of each table"
    yield _family("newest_event_time_seconds", says, events, "table")
    says = "When the connector sent the newest heartbeat"
    yield _family("heartbeat_time_seconds", says, [("", _seconds(facts.heartbeat_at))])
    unread = [(one.name, one.unread) for one in facts.partitions or ()]
    yield _family("unread_records", "Records that were not read", unread, "partition")


def _of_slots(slots: Sequence[ReplicationSlot]) -> Iterator[Family]:
    figures: Mapping[str, tuple[str, Callable[[ReplicationSlot], float | None]]] = {
        "is_active": ("Whether a connector reads from the slot", lambda one: one.is_active),
        "is_lost": ("Whether Postgres has removed log of the slot", lambda one: one.is_lost),
        "lag_bytes": ("How much log the slot is behind", lambda one: one.lag),
        "wal_kept_bytes": ("How much log Postgres keeps for the slot", lambda one: one.wal_kept),
        "wal_left_bytes": (
            "How much log may be written before the slot may be lost",
            lambda one: one.wal_left,
        ),
    }
    for name, (says, of) in figures.items():
        yield _family(f"slot_{name}", says, [(one.name, of(one)) for one in slots], "slot")


def _of_binary_logs(logs: BinaryLogs) -> Iterator[Family]:
    says = "How much binary log comes behind what was read"
    yield _family("binlog_lag_bytes", says, [("", logs.lag)])
    says = "How many files of binary log are gone, from the one of the newest read change on"
    yield _family("binlogs_purged_unread", says, [("", logs.purged_unread)])
