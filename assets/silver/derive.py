"""Bronze to silver, quarantine and accounts, for some windows: plan, classify, refuse, commit, report."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from typing import Any, Final, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from assets.columns import layers
from assets.columns.silver import written_rows
from assets.control import accounting, decisions, ledger, progress, transactions
from assets.control.accounting import StoredAccount
from assets.control.decisions import Signature
from assets.executors.in_process import InProcess
from assets.quarantine.records import (
    count_dismissed,
    maybe_among,
    note_leaving,
    rows_among,
    source_location_of,
    source_locations_of,
)
from assets.silver import checks, classify
from assets.silver.checks import Findings
from assets.silver.classify import Classified
from assets.silver.plan import SilverPlan
from assets.storage.lake import Lake, Layer
from assets.storage.locks import writing
from transforms.errors import KeyDrift, SchemaChangeRefused
from transforms.feed.decisions import Decisions, Dismissal, SourceLocation
from transforms.feed.feed import Feed
from transforms.feed.schema_policies import DROP_COLUMN
from transforms.formats import FORMATS
from transforms.moments import moment_of
from transforms.record import SOURCE_LOCATION
from transforms.silver import log_resets, trails
from transforms.silver.accounting import Account
from transforms.silver.change_kinds import DROPS, streams_label
from transforms.silver.faults import MISSING_KEY
from transforms.silver.frames import CHANGES, IN_BASE, OF_ERASED, TO_QUARANTINE
from transforms.silver.trails import Fallen


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
        """One row per window and table (``layers.Accounting.schema``)."""
        return self.findings.accounts


def derive(
    lake: Lake, feed: Feed, windows: Sequence[str], judged_by: Lake | None = None
) -> Derived:
    """Write these windows' changes, quarantine and accounts, each in one commit, from their bronze alone.

    ``judged_by``: the warehouse whose compaction watermarks say which events come too late, where that is another one:
    the proof of `weir verify` works in a scratch warehouse, which has no base rows of its own.

    Raises:
        SchemaChangeRefused: the feed file refuses a change of schema that these windows bring. Nothing is written.
        KeyDrift: every event of a table lacks a column of its key. Nothing is written.
        DecisionRefused: the feed contradicts what compacted history was made with (``compacted.refuse_altered_past``).
        TableBusy: another run writes silver.
    """
    with writing(lake, Layer.SILVER, feed.name):
        return derive_planned(lake, SilverPlan.read(lake, feed, windows, judged_by))


def derive_planned(lake: Lake, plan: SilverPlan) -> Derived:
    """``derive`` by a plan, for a caller that holds silver's lock."""
    plan = with_damaged_given_up(lake, plan)
    made = classify.of_plan(lake, plan)
    try:
        return _derived(lake, plan, made)
    except BaseException:
        if made.files:
            # Refused, or interrupted: what no commit has added is of no use.
            plan.silver.now().remove_unadded(made.files)
        raise
    finally:
        made.free()


def _derived(lake: Lake, plan: SilverPlan, made: Classified[Any]) -> Derived:
    """``derive_planned`` once its records are classified."""
    accounts: Sequence[StoredAccount] = stored_accounts(plan.feed, plan.declared, made.accounts)
    _refuse(lake, plan, made, accounts)
    still = partial(_still_quarantined, made.of_kind(TO_QUARANTINE))
    plan = with_earlier_decisions(lake, plan, still)
    mine = [row for row in plan.earlier if row["window"] in plan.windows]
    progress.reopen(lake, plan.feed, plan.declared, mine)
    written = _commit(lake, plan, made, accounts)
    accounts = written.accounts
    given_up, dismissed = plan.feed.decisions.dismissed(plan.windows), 0
    if given_up:
        dismissed = count_dismissed(made.of_kind(TO_QUARANTINE), given_up)
    all_accounts = [*plan.others, *accounts]
    still_open = []
    if plan.transactions is not None:
        still_open = plan.transactions.still_open(
            lake, plan.feed, written.waiting, plan.declared, all_accounts
        )
    found = Findings(
        feed=plan.feed,
        accounts=accounts,
        landed=plan.landed,
        written=written.silver,
        quarantined=written.quarantine,
        falls=log_resets.falls(all_accounts),
        restarts=log_resets.restarts(
            all_accounts, {one.window for one in plan.feed.decisions.epochs}
        ),
        unordered=log_resets.unordered_snapshots(all_accounts),
        late=checks.mostly_late(accounts, plan.others),
        stale=checks.stale_lags(plan.feed, accounts, datetime.now(UTC)),
        conflicts=[line for account in made.accounts for line in account["seen"]],
        dismissed=dismissed,
        open=still_open,
    )
    return Derived(found, checks.count_of_rules(found), made.run.name)


def _refuse(
    lake: Lake, plan: SilverPlan, made: Classified[Any], accounts: Sequence[StoredAccount]
) -> None:
    """Raise before anything is written where these windows bring what the feed does not take."""

    def classified_rows() -> DataFrame:
        rows = classify.by_spark(lake, plan.feed, made).of_kind(CHANGES, TO_QUARANTINE)
        has_fault = F.col("reason").isNotNull()
        return rows.select("*", F.when(has_fault, F.struct("reason", "detail")).alias("fault"))

    refuse_schema_changes(plan.feed, accounts, classified_rows, may_lack_keys=_may_lack_keys(made))


def _may_lack_keys(made: Classified[Any]) -> bool:
    """False where this process sees at once that no event is in quarantine for its key: Spark need not start then."""
    if not isinstance(made.run, InProcess):
        return True
    reasons = made.of_kind(TO_QUARANTINE)["reason"]
    return bool(pc.any(pc.equal(reasons, MISSING_KEY)).as_py())


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
    accounting.announce(plan.accounting, accounts, plan.earlier)
    still = partial(_still_quarantined, made.of_kind(TO_QUARANTINE))
    note_leaving(lake, plan.feed, plan.quarantined, still)
    silver, quarantine = (_put(lake, plan, made, layer) for layer in _KINDS)
    waiting = None
    if plan.transactions is not None:
        events = transactions.open_events_of(made.of_kind(CHANGES, IN_BASE, OF_ERASED))
        waiting = transactions.replace_open_events(
            lake, plan.feed, events, made.counts.open_events, plan.windows
        )
    accounts = with_new_falls(plan, accounts)
    plan.accounting.replace_windows(accounts, plan.windows)
    return Written(silver, quarantine, waiting, accounts)


_KINDS: Final = {
    Layer.SILVER: (CHANGES, layers.Silver, checks.STORED),
    Layer.QUARANTINE: (TO_QUARANTINE, layers.Quarantine, checks.TO_QUARANTINE),
}
"""The kind of row that each table has, its columns, and the outcomes whose rows they are."""


def _put(lake: Lake, plan: SilverPlan, made: Classified[Any], layer: Layer) -> int:
    """Put rows in place of the windows'; returns how many rows the commit says it wrote."""
    kind, columns, outcomes = _KINDS[layer]
    table = plan.silver if layer == Layer.SILVER else plan.quarantine
    if made.of_files is not None and layer == Layer.SILVER:
        return table.put_files(made.files, plan.windows)
    any_rows = made.count(*outcomes) > 0
    if not any_rows and table.can_put(plan.windows):
        return table.put_windows(columns.schema.empty_table(), plan.windows)
    rows = written_rows(made.of_kind(kind), plan.feed, columns)
    if isinstance(rows, pa.Table):
        return table.put_windows(rows, plan.windows)
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
    """One row per window and table (``layers.Accounting.schema``); ``declared``: see ``SilverPlan``."""
    # From which streams the changes came, where the fold asks whether there are several.
    crosses_streams = FORMATS[feed.format].crosses_streams
    return [
        {
            **{name: account[name] for name in _SAME},
            "change_kinds": [
                *account["change_kinds"],
                *([streams_label(account["streams"])] if crosses_streams else []),
            ],
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


_SAME: Final = tuple(
    name
    for name in layers.Accounting.schema.names
    if name not in ("change_kinds", "segments", "newest_event_at", "stream_schemas", "declaration")
)


# Records of objects that landed again. A file that is read while it is written ends within a record; written to its end
# it has the whole record at the same place, so the first one is dismissed. And a record that a person has dismissed or
# repaired may come again, as it was and where it was, when its file has grown: it is dismissed, too.


DAMAGED = "damaged_record"
WHY = "its object landed again, longer, and has the record whole"

_COLUMNS = (*SOURCE_LOCATION, "window", "payload")
_COMPARED = (*_COLUMNS, "header", "landed_at")


def with_damaged_given_up(lake: Lake, plan: SilverPlan) -> SilverPlan:
    """The same plan, with a decision for each damaged record of its windows that landed again whole.

    Costs nothing where none is damaged, or none of their objects landed again.
    """
    known = {*plan.feed.decisions.dismissed(), *plan.feed.decisions.replaced()}
    faults = plan.quarantined.filter(pc.equal(plan.quarantined["reason"], DAMAGED)).to_pylist()
    damaged = [row for row in faults if source_location_of(row) not in known]
    if not damaged or plan.is_proof or plan.feed.reads_topics:
        return plan
    windows, again = _again(lake, plan, {row["object"] for row in damaged})
    if not again:
        return plan
    whole = _whole(
        [row for row in damaged if row["object"] in again], _read(lake, plan, windows, again)
    )
    if not whole:
        return plan
    decisions.dismiss(lake, plan.feed, whole, Signature(datetime.now(UTC), None, WHY))
    return replace(plan, feed=decisions.with_recorded(lake, plan.feed))


def with_earlier_decisions(
    lake: Lake, plan: SilverPlan, in_quarantine: Callable[[pa.Table], pa.Table]
) -> SilverPlan:
    """The same plan, with a decision for each record in quarantine that was decided when its object landed before.

    It is the same record where object, line, bytes and CSV header are the same. Anything else stays open. Gold lacks
    nothing for it: the events of a repaired record are there by the payload that is read in place of the earlier one,
    and they stand where the source says, whichever landing brought them; and what a person gave up, no gold has.

    Costs nothing where no record of these windows was ever decided, or none of their objects landed again.
    ``in_quarantine``: which of some records these windows have in quarantine now: rows with their source locations.
    """
    replaced = {
        where for where, one in plan.feed.decisions.replaced().items() if one.window in plan.windows
    }
    decided = replaced | plan.feed.decisions.dismissed(plan.windows)
    if not decided or plan.is_proof or plan.feed.reads_topics:
        return plan
    windows, again = _again(lake, plan, {name for name, *_ in decided})
    decided = {one for one in decided if one[0] in again}
    if not decided:
        return plan
    table = lake.in_process_table(Layer.BRONZE, plan.feed.name)
    records = [
        row
        for rows in table.each(_COMPARED, {"window": windows & {*plan.windows}})
        for row in maybe_among(rows, decided).to_pylist()
    ]
    same = _same(records, decided)
    asked = source_locations_of({*same, *decided})
    there = rows_among(in_quarantine(asked), asked)
    quarantined = {source_location_of(row) for row in there.to_pylist()}
    # A payload that was recorded though it is quarantined, too, has repaired nothing.
    failed = (replaced & quarantined) - plan.feed.decisions.dismissed(plan.windows)
    found = {
        own: sources
        for own, some in same.items()
        if own in quarantined and (sources := [one for one in some if one not in failed])
    }
    if not found:
        return plan
    _dismiss(lake, plan, {own: sources[0] for own, sources in found.items()}, records)
    return replace(plan, feed=decisions.with_recorded(lake, plan.feed))


def _same(
    records: Sequence[Mapping[str, Any]], decided: Collection[SourceLocation]
) -> dict[SourceLocation, list[SourceLocation]]:
    """For each record that is not decided the decided ones that are the same, of earlier landings, the first first."""
    earlier: dict[tuple[str, int, bytes, str | None], list[SourceLocation]] = {}
    found: dict[SourceLocation, list[SourceLocation]] = {}
    for row in sorted(records, key=lambda row: (row["landed_at"], row["generation"])):
        if row["payload"] is None:
            continue
        own = source_location_of(dict(row))
        same = earlier.setdefault((own[0], own[2], row["payload"], row["header"]), [])
        if own in decided:
            same.append(own)
        elif same:
            found[own] = [*same]
    return found


def _dismiss(
    lake: Lake,
    plan: SilverPlan,
    found: Mapping[SourceLocation, SourceLocation],
    records: Sequence[Mapping[str, Any]],
) -> None:
    """Record that each of these records is given up, for the decision on the same one of an earlier landing."""
    windows = {source_location_of(dict(row)): row["window"] for row in records}
    dismissed = decisions.dismissed_by(lake, plan.feed)
    by_reason: dict[str, list[Dismissal]] = {}
    for (name, generation, line, byte_offset), source in found.items():
        window = windows[name, generation, line, byte_offset]
        one = Dismissal(window, name, generation, ((line, byte_offset),))
        reason = _in_words(plan.feed.decisions, dismissed, source)
        by_reason.setdefault(reason, []).append(one)
    for reason, some in by_reason.items():
        decisions.dismiss(lake, plan.feed, some, Signature(datetime.now(UTC), None, reason))


def _in_words(
    known: Decisions, dismissed: Mapping[SourceLocation, Signature], source: SourceLocation
) -> str:
    given, was = known.replaced().get(source), "repaired"
    signed = Signature(given.at, given.by, given.reason) if given else None
    if signed is None:
        signed, was = dismissed.get(source), "dismissed"
    by = f" by {signed.by}" if signed and signed.by else ""
    why = f": {signed.reason}" if signed and signed.reason else ""
    return f"the same record of an earlier landing of this object was {was}{by}{why}"


def _again(lake: Lake, plan: SilverPlan, names: Collection[str]) -> tuple[set[str], set[str]]:
    """The windows and the names of those of these objects that landed more than once."""
    objects = ledger.read_objects(lake, plan.feed, names=[*names])
    again = {name for name, landed in Counter(one.name for one in objects).items() if landed > 1}
    return {one.window for one in objects if one.name in again}, again


def _read(lake: Lake, plan: SilverPlan, windows: set[str], names: set[str]) -> list[dict[str, Any]]:
    """The records of some objects as bronze has them, in all their generations."""
    wanted = pa.array(sorted(names))
    table = lake.in_process_table(Layer.BRONZE, plan.feed.name)
    return [
        row
        for rows in table.each(_COLUMNS, {"window": windows})
        for row in rows.filter(pc.is_in(rows["object"], wanted)).to_pylist()
    ]


def _whole(
    damaged: Sequence[Mapping[str, Any]], records: Sequence[Mapping[str, Any]]
) -> list[Dismissal]:
    """A decision for each damaged record that another generation has whole: one that begins with it, and is longer."""
    payloads = {source_location_of(dict(row)): row["payload"] for row in records}
    others: dict[tuple[str, int, int], list[tuple[str, bytes]]] = {}
    for (name, generation, line, byte_offset), payload in payloads.items():
        others.setdefault((name, line, byte_offset), []).append((generation, payload or b""))
    found = []
    for row in damaged:
        name, generation, line, byte_offset = source_location_of(dict(row))
        own = payloads.get((name, generation, line, byte_offset))
        if own and any(
            other != generation and len(payload) > len(own) and payload.startswith(own)
            for other, payload in others[name, line, byte_offset]
        ):
            found.append(Dismissal(row["window"], name, generation, ((line, byte_offset),)))
    return found


def with_new_falls(plan: SilverPlan, accounts: Sequence[StoredAccount]) -> Sequence[StoredAccount]:
    """The accounts with those falls whose changes are in no other window; silver has all rows of the plan's windows.

    A source that sends changes again has them stand below what it sent before. Silver is read for it only where changes
    seem to have fallen.
    """
    of_tables: dict[str, list[StoredAccount]] = defaultdict(list)
    for row in (*plan.others, *accounts):
        if row["changes"]:
            of_tables[row["table"]].append(row)
    return [{**row, "falls": _new_falls(plan, row, of_tables[row["table"]])} for row in accounts]


def _new_falls(
    plan: SilverPlan, row: StoredAccount, of_table: Sequence[StoredAccount]
) -> list[str]:
    if not row["trails"] and not row["falls"]:
        return []
    others = [one for one in of_table if one["window"] != row["window"]]
    before = [one for one in others if one["window"] < row["window"]]
    before.sort(key=lambda one: str(one["window"]))
    found = [trails.read_fallen(text) for text in row["falls"]]
    found += trails.below(row, before)
    left = ((key, fallen.without(_known(plan, fallen, others))) for key, fallen in found)
    return sorted(trails.text_of_fallen(key, one) for key, one in left if one is not None)


def _known(plan: SilverPlan, fallen: Fallen, others: Sequence[StoredAccount]) -> frozenset[str]:
    """Which of these events are in other windows, too."""
    positions = [position for _, _, position in fallen.events]
    windows = [
        str(one["window"]) for one in others if _reaches(one, min(positions), max(positions))
    ]
    if not windows:
        return frozenset()
    where = {"window": windows, "event_id": [one for one, _, _ in fallen.events]}
    rows = plan.silver.now().read(["event_id"], where)
    return frozenset(rows["event_id"].to_pylist())


def _reaches(account: StoredAccount, lowest: tuple[int, ...], highest: tuple[int, ...]) -> bool:
    """Whether a window may have an event between these positions, of whatever epoch."""
    if not account["first_position"] or not account["last_position"]:
        return False
    first, last = (tuple(account[name][1:]) for name in ("first_position", "last_position"))
    return first <= highest and lowest[: len(last)] <= last


# Schema changes in the stream that the feed file refuses: they end the run before anything is written.


_POLICY = "The feed file's `schema_changes` says"


def refuse_schema_changes(
    feed: Feed,
    accounts: Sequence[StoredAccount],
    classified_rows: Callable[[], DataFrame],
    *,
    may_lack_keys: bool,
) -> None:
    """Raise before anything is written where these windows bring a change that the feed file refuses.

    ``classified_rows``: the rows behind the accounts, which are asked for only where an account tells of such a change.
    ``may_lack_keys``: whether events may be in quarantine because their key is missing.

    Raises:
        SchemaChangeRefused: the policy of that kind of change is ``fail``.
        KeyDrift: every event of a table lacks a column of its key.
    """
    if may_lack_keys:
        _refuse_key_drift(feed, accounts, classified_rows)
    for account in sorted(accounts, key=lambda row: (row["window"], str(row["source_table"]))):
        table = feed.tables.get(account["declared"] or "")
        if table is None:
            if feed.policies.rename_table == "fail" and account["changes"]:
                raise SchemaChangeRefused(
                    *(feed.name, str(account["source_table"]), "rename_table"),
                    f"events of the undeclared table {account['source_table']}"
                    f"{_first_in_words(_rows_of_account(classified_rows(), account))}",
                    f"{_POLICY} rename_table: fail. Declare the table; or, if it is a table under a new name, give"
                    " that its new name in the feed file and list the earlier one under `was`.",
                )
            continue
        if table.policies.add_column == "fail" and account["undeclared_columns"]:
            column = account["undeclared_columns"][0]
            rows = _rows_of_account(classified_rows(), account).where(~is_column_drop())
            first = _first_in_words(rows.where(F.array_contains(F.map_keys("after"), column)))
            raise SchemaChangeRefused(
                *(feed.name, table.name, "add_column"),
                f"events mention the undeclared column {column}{first}",
                f"{_POLICY} add_column: fail. Declare the column, or the name that it had before under `renamed`.",
            )
        if table.policies.drop_column == "fail" and DROPS in account["change_kinds"]:
            first = _first_in_words(
                _rows_of_account(classified_rows(), account).where(is_column_drop())
            )
            raise SchemaChangeRefused(
                *(feed.name, table.name, "drop_column"),
                f"the source dropped a column{first}",
                f"{_POLICY} drop_column: fail. Say keep, hold or evolve.",
            )


def is_column_drop() -> Column:
    """True for the source's own drop of a column."""
    return (F.col("operation") == DROP_COLUMN) & F.col("scope").isNotNull()


def _rows_of_account(classified_rows: DataFrame, account: StoredAccount) -> DataFrame:
    """The rows behind an account."""
    return classified_rows.where(
        (F.col("window") == account["window"]) & (F.col("table") == account["table"])
    )


def _first_in_words(events: DataFrame) -> str:
    """Where the first of these events stands, as the end of a sentence."""
    rows = events.orderBy(*SOURCE_LOCATION).select("object", "line").take(1)
    return f", first in {rows[0]['object']}, line {rows[0]['line']}" if rows else ""


def _refuse_key_drift(
    feed: Feed, accounts: Sequence[StoredAccount], classified_rows: Callable[[], DataFrame]
) -> None:
    suspects = {
        (account["window"], account["declared"])
        for account in accounts
        if account["declared"] in feed.tables
        and not account["changes"]
        and account["quarantined"] > 1
    }
    for window, name in sorted(suspects):
        key = feed.tables[name].key
        # The rows first: a window that was derived in this process may be the first to start a session.
        rows = classified_rows()
        images = F.concat(F.map_keys("before"), F.map_keys("after"))
        mentions = [F.count_if(F.array_contains(images, column)).alias(column) for column in key]
        mine = rows.where((F.col("window") == window) & (F.col("declared") == name))
        of_keys = mine.where(F.col("fault.reason") == MISSING_KEY)
        found = of_keys.agg(F.count(F.lit(1)).alias("_events"), *mentions).first()
        assert found is not None  # an aggregate without groups has one row
        lacking = [column for column in key if not found[column]]
        if lacking and found["_events"] == mine.where(F.col("derived").isNull()).count():
            raise KeyDrift(
                *(feed.name, name, key),
                f"none of its {found['_events']} events in window {window} mentions"
                f" {', '.join(lacking)}{_first_in_words(mine)}",
                "If the column was renamed, give its earlier name under `renamed`. If the source has another key now,"
                " its rows are other rows: declare them in a feed of another name.",
            )
