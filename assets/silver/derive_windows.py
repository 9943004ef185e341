"""Bronze to silver, quarantine and accounts, for some windows: plan, classify, refuse, commit, report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Any, Final, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from assets.bookkeeping import accounting, dismissals, redeclared
from assets.bookkeeping.accounting import ACCOUNTING, StoredAccount
from assets.bookkeeping.quarantine import repaired_records
from assets.bookkeeping.transactions import open_events
from assets.columns.silver import QUARANTINE_ROWS, SILVER
from assets.columns.silver_rows import written_rows
from assets.executors.in_process import InProcess
from assets.lake import Lake
from assets.layers import Layer
from assets.locks import writing
from assets.silver import classifying, findings, known_events, landed_again, schema_changes
from assets.silver.classifying import Classified
from assets.silver.findings import Findings
from assets.silver.plan import SilverPlan
from transforms.change_kinds import streams_label
from transforms.feed.feed import Feed
from transforms.formats import FORMATS
from transforms.moments import moment_of
from transforms.record import SOURCE_LOCATION
from transforms.silver import log_resets
from transforms.silver.accounting import Account
from transforms.silver.conforming.faults import MISSING_KEY
from transforms.silver.frames import CHANGES, IN_BASE, TO_QUARANTINE


@dataclass(frozen=True, slots=True)
class Derived:
    """What deriving some windows came to.

    ``findings``: what is known of them now. ``violations``: how often each rule of silver is broken, by the rule's
    name. ``executor``: which of them has classified the records.
    """

    findings: Findings
    violations: Mapping[str, int]
    executor: str

    @property
    def accounts(self) -> Sequence[StoredAccount]:
        """One row per window and table (``ACCOUNTING``)."""
        return self.findings.accounts


def derive(
    lake: Lake, feed: Feed, windows: Sequence[str], judged_by: Lake | None = None
) -> Derived:
    """Write these windows' changes, quarantine and accounts, each in one commit, from their bronze alone.

    Args:
        lake: the warehouse that is read and written.
        feed: the feed as its file declares it; recorded decisions are added.
        windows: all of them are replaced.
        judged_by: the warehouse whose compaction watermarks say which events come too late, where that is another one.
            The proof of `weir verify` works in a scratch warehouse, which has no base rows of its own.

    Raises:
        SchemaChangeRefused: the feed file refuses a change of schema that these windows bring. Nothing is written.
        KeyDrift: every event of a table lacks a column of its key. Nothing is written.
        DecisionRefused: the feed contradicts what compacted history was made with (``bases.refuse_altered_past``).
        TableBusy: another run writes silver.
    """
    with writing(lake, Layer.SILVER, feed.name):
        return derived(lake, SilverPlan.read(lake, feed, windows, judged_by))


def derived(lake: Lake, plan: SilverPlan) -> Derived:
    """``derive`` by a plan, for a caller that holds silver's lock."""
    plan = landed_again.given_up(lake, plan)
    made = classifying.of_plan(lake, plan)
    accounts: Sequence[StoredAccount] = stored_accounts(plan.feed, plan.declared, made.accounts)
    _refuse(lake, plan, made, accounts)
    still = partial(_still_quarantined, made.of_kind(TO_QUARANTINE))
    plan = landed_again.decided_before(lake, plan, still)
    mine = [row for row in plan.earlier if row["window"] in plan.windows]
    redeclared.reopen(lake, plan.feed, plan.declared, mine)
    written = _commit(lake, plan, made, accounts)
    accounts = written.accounts
    dismissed = _dismissed(plan, made)
    made.free()
    all_accounts = [*plan.others, *accounts]
    known, waiting = plan.transactions, written.waiting
    still_open = (
        known.still_open(lake, plan.feed, waiting, plan.declared, all_accounts) if known else []
    )
    found = Findings(
        feed=plan.feed,
        accounts=accounts,
        landed=plan.landed,
        written=written.silver,
        quarantined=written.quarantine,
        falls=accounting.falls(all_accounts),
        restarts=log_resets.restarts(
            all_accounts, {one.window for one in plan.feed.decisions.epochs}
        ),
        unordered=log_resets.unordered_snapshots(all_accounts),
        late=findings.mostly_late(accounts, plan.others),
        stale=findings.stale_lags(plan.feed, accounts, datetime.now(UTC)),
        conflicts=[line for account in made.accounts for line in account["seen"]],
        dismissed=dismissed,
        open=still_open,
    )
    return Derived(found, findings.count_of_rules(found), made.run.name)


def _refuse(
    lake: Lake, plan: SilverPlan, made: Classified[Any], accounts: Sequence[StoredAccount]
) -> None:
    """Raise before anything is written where these windows bring what the feed does not take.

    Raises:
        SchemaChangeRefused: the feed file refuses a change of schema.
        KeyDrift: every event of a table lacks a column of its key.
    """

    def classified_rows() -> DataFrame:
        rows = classifying.by_spark(lake, plan.feed, made).of_kind(CHANGES, TO_QUARANTINE)
        has_fault = F.col("reason").isNotNull()
        return rows.select("*", F.when(has_fault, F.struct("reason", "detail")).alias("fault"))

    schema_changes.refuse_in_stream(
        plan.feed, accounts, classified_rows, may_lack_keys=_may_lack_keys(made)
    )


def _may_lack_keys(made: Classified[Any]) -> bool:
    """False where this process sees at once that no event is in quarantine for its key: Spark need not start then."""
    if not isinstance(made.run, InProcess):
        return True
    reasons = made.of_kind(TO_QUARANTINE)["reason"]
    return bool(pc.any(pc.equal(reasons, MISSING_KEY)).as_py())


def _dismissed(plan: SilverPlan, made: Classified[Any]) -> int:
    """How many of the quarantined events a person has dismissed."""
    dismissed = plan.feed.decisions.dismissed(plan.windows)
    if not dismissed:
        return 0
    return dismissals.among(made.of_kind(TO_QUARANTINE), dismissed)


class Written(NamedTuple):
    """What the commits of a run wrote: how many rows of silver and of quarantine, by what Delta says.

    ``waiting``: the events of transactions that their window does not hold whole; None where Spark has stored them.
    ``accounts``: as they are stored.
    """

    silver: int
    quarantine: int
    waiting: pa.Table | None
    accounts: Sequence[StoredAccount]


def _commit(
    lake: Lake, plan: SilverPlan, made: Classified[Any], accounts: Sequence[StoredAccount]
) -> Written:
    """Replace these windows in silver, quarantine and accounts, in this order.

    Kinds of change that silver did not have are announced first, for gold folds by what the accounts say of them.
    """
    table = lake.in_process_table(Layer.ACCOUNTING, plan.feed.name, columns=accounting.COLUMNS)
    accounting.announce(table, accounts, plan.earlier)
    still = partial(_still_quarantined, made.of_kind(TO_QUARANTINE))
    repaired_records.note_leaving(lake, plan.feed, plan.quarantined, still)
    silver, quarantine = (_put(lake, plan, made, layer) for layer in _KINDS)
    waiting = None
    if plan.transactions is not None:
        events = open_events.events_of(made.of_kind(CHANGES, IN_BASE))
        waiting = open_events.put(lake, plan.feed, events, made.counts.open_events, plan.windows)
    accounts = known_events.with_new_falls(plan, accounts)
    table.replace_windows(accounts, plan.windows)
    return Written(silver, quarantine, waiting, accounts)


_KINDS: Final = {
    Layer.SILVER: (CHANGES, SILVER, findings.STORED),
    Layer.QUARANTINE: (TO_QUARANTINE, QUARANTINE_ROWS, findings.TO_QUARANTINE),
}
"""The kind of row that each table has, its columns, and the outcomes whose rows they are."""


def _put(lake: Lake, plan: SilverPlan, made: Classified[Any], layer: Layer) -> int:
    """Put rows in place of the windows'; returns how many rows the commit says it wrote."""
    kind, columns, outcomes = _KINDS[layer]
    rows = written_rows(made.of_kind(kind), plan.feed, columns)
    if isinstance(rows, pa.Table):
        table = plan.silver if layer == Layer.SILVER else plan.quarantine
        return table.put_windows(rows, plan.windows)
    any_rows = made.count(*outcomes) > 0
    return lake.table(layer, plan.feed.name).put_windows(rows, plan.windows, any_rows=any_rows)


def _still_quarantined(quarantined: DataFrame | pa.Table, source_locations: pa.Table) -> pa.Table:
    """Which of some records go to quarantine again: asked only where some were there, for it may be Spark's job."""
    if isinstance(quarantined, pa.Table):
        return quarantined.select(SOURCE_LOCATION)
    known = quarantined.sparkSession.createDataFrame(source_locations)
    again = quarantined.select(*SOURCE_LOCATION).distinct()
    return again.join(known, on=[*SOURCE_LOCATION], how="left_semi").toArrow()


def stored_accounts(
    feed: Feed, declared: Mapping[str, str], accounts: Sequence[Account]
) -> list[StoredAccount]:
    """One row per window and table (``ACCOUNTING``); ``declared``: see ``SilverPlan``."""
    return [
        {
            **{name: account[name] for name in _SAME},
            "change_kinds": _change_kinds(feed, account),
            "newest_event_at": moment_of(account["newest_event_at"]),
            "segments": [
                {
                    **{"epoch": epoch, "segment": segment},
                    **{"event_at": moment_of(made_at), "extracted_at": moment_of(read_at)},
                }
                for epoch, segment, made_at, read_at in account["segments"]
            ],
            "stream_schemas": [
                {
                    "key": schema["key"],
                    "columns": [{"name": name, "type": kind} for name, kind in schema["columns"]],
                    "encoded": schema["encoded"],
                    "defaults": [
                        {"name": name, "value": value} for name, value in schema["defaults"]
                    ],
                }
                for schema in account["stream_schemas"]
            ],
            "declaration": declared[account["window"]],
        }
        for account in accounts
    ]


def _change_kinds(feed: Feed, account: Account) -> list[str]:
    """The kinds of change, and from which streams they came where the fold asks whether there are several."""
    streams = [streams_label(account["streams"])] if FORMATS[feed.format].crosses_streams else []
    return [*account["change_kinds"], *streams]


_SAME: Final = tuple(
    field.name
    for field in ACCOUNTING.fields
    if field.name
    not in ("change_kinds", "segments", "newest_event_at", "stream_schemas", "declaration")
)
