"""What silver's checks say of a run: how often each rule is broken, and what a reader sees of it first."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from assets.control.accounting import StoredAccount
from assets.control.transactions import OpenTransaction, open_transactions_in_words
from assets.quarantine import words
from assets.silver.undeclared_tables import lines_to_paste
from assets.storage.lake import Lake, Layer
from assets.wording import counted
from expectations import silver as rules
from transforms.display import Markdown, bullets, code, code_block, paragraphs
from transforms.event import Undeclared
from transforms.feed.feed import Feed
from transforms.feed.windows import STEPS, parse_window
from transforms.formats import FORMATS
from transforms.moments import moment_of
from transforms.near_names import did_you_mean
from transforms.silver import accounting, duplicates
from transforms.silver.log_resets import Restart, Unordered

STORED = ("changes", "control", "held", "derived")
"""The outcomes of which silver keeps a row."""

TO_QUARANTINE = ("quarantined", "too_late", "derived_quarantined")
"""The outcomes of which quarantine keeps a row."""

FEW_LATE = 10
"""Maximum number of a table's events that may be too late in a window that has others: of few they are soon most."""

FEW_QUARANTINED = 20
"""From this number of a table's records on their share of it counts."""


@dataclass(frozen=True, slots=True)
class Findings:
    """What a run knows of its windows once they are written, as far as the rules of silver ask for it.

    ``feed``: with its recorded decisions. ``accounts``: one row per window and table. ``landed``: how many records
    bronze has of these windows; ``written`` and ``quarantined``: how many rows the commits of silver and of quarantine
    say that they wrote. ``falls``: the log files that end before an earlier one does (``log_resets.falls``).
    ``restarts``: where positions of a table began again. ``unordered``: snapshots that nothing puts in order. ``late``:
    those of the accounts in which most events come too late (``mostly_late``). ``stale``: the windows whose newest
    event was too old (``stale_lags``). ``conflicts``: where some of the events stand that contradict others.
    ``dismissed``: how many of the quarantined events a person has dismissed. ``open``: the transactions of all windows
    that are not complete.
    """

    feed: Feed
    accounts: Sequence[StoredAccount]
    landed: int
    written: int
    quarantined: int
    falls: Sequence[StoredAccount]
    restarts: Sequence[Restart]
    unordered: Sequence[Unordered]
    late: Sequence[StoredAccount]
    stale: Sequence[WindowLag]
    conflicts: Sequence[str]
    dismissed: int
    open: Sequence[OpenTransaction]

    @property
    def overdue(self) -> Sequence[OpenTransaction]:
        """Those open transactions whose commit is overdue."""
        return [one for one in self.open if one.never_committed]


def count_of_rules(findings: Findings) -> dict[str, int]:
    """How often each rule of silver is broken, by the rule's name."""
    feed, accounts = findings.feed, findings.accounts
    total = {name: sum(row[name] for row in accounts) for name in accounting.COUNTS}
    return {
        rules.ACCOUNTING_IS_EXACT.name: _miscounted(findings, total),
        rules.NO_NULL_KEY.name: total["null_keys"],
        rules.POSITION_RISES_WITH_SOURCE_TIME.name: len(findings.falls) + len(findings.restarts),
        rules.SNAPSHOTS_ARE_IN_ORDER.name: len(findings.unordered),
        rules.NO_EVENT_TWICE.name: total["duplicates"],
        rules.NOTHING_QUARANTINED.name: total["quarantined"] - findings.dismissed,
        rules.MOST_EVENTS_ARE_TAKEN.name: sum(mostly_quarantined(findings).values()),
        rules.TABLES_ARE_DECLARED.name: sum(
            row["changes"] for row in accounts if row["declared"] is None
        ),
        rules.COLUMNS_ARE_DECLARED.name: len(undeclared_columns(accounts)),
        rules.NOTHING_TOO_LATE.name: total["too_late"],
        rules.MOST_EVENTS_ARE_IN_TIME.name: sum(row["too_late"] for row in findings.late),
        rules.NOTHING_HELD.name: total["held"],
        rules.IS_FRESH.name: len(findings.stale),
        rules.NO_ERASED_KEY_LANDS_AGAIN.name: sum(
            row["warnings"].get(accounting.LANDED_AGAIN, 0) for row in accounts
        ),
        rules.NO_CONFLICTING_PAYLOADS.name: sum(
            row["warnings"].get(duplicates.CONFLICT, 0) for row in accounts
        ),
        **{
            warning.rule: sum(row["warnings"].get(warning.word, 0) for row in accounts)
            for warning in FORMATS[feed.format].warnings
        },
        rules.EVERY_TRANSACTION_IS_COMMITTED.name: len(findings.open),
        rules.NO_TRANSACTION_IS_OVERDUE.name: len(findings.overdue),
    }


def _miscounted(findings: Findings, total: Mapping[str, int]) -> int:
    """By how many records, events or rows the accounts differ from bronze, from their own sum and from the commits."""
    outcomes_sum = sum(total[name] for name in accounting.OUTCOMES)
    quarantined = sum(total[name] for name in TO_QUARANTINE)
    return (
        abs(findings.landed - total["records"])
        + abs(total["events"] - outcomes_sum)
        + abs(findings.written - sum(total[name] for name in STORED))
        + abs(findings.quarantined - quarantined)
    )


def mostly_quarantined(findings: Findings) -> dict[str, int]:
    """By table how many of its events are in quarantine, where these are most of what the run brings of it."""
    events, quarantined = Counter[str](), Counter[str]()
    for row in findings.accounts:
        name = row["table"] or _NO_TABLE
        events[name] += row["events"] - row["duplicates"]
        quarantined[name] += row["quarantined"]
    most = {
        name: count
        for name, count in quarantined.items()
        if count >= FEW_QUARANTINED and 2 * count >= events[name]
    }
    return most if sum(most.values()) > findings.dismissed else {}


_NO_TABLE: Final = "(no table)"
"""How records are called that say of no table that they are for it."""


def mostly_late(
    accounts: Iterable[StoredAccount], others: Iterable[StoredAccount]
) -> list[StoredAccount]:
    """Those of a run's accounts in which most events of their table came too late; ``others``: of other windows.

    Most: more than ``FEW_LATE``, and more than those that count or wait; or, however few, all events of the table that
    are no repeats. One event that is alone in its window is let pass, for it may be a straggler, unless the events of
    the table's window before it were all too late, too.
    """
    found: list[StoredAccount] = []
    of_table: dict[str, list[tuple[StoredAccount, bool]]] = defaultdict(list)
    for is_own, some in ((False, others), (True, accounts)):
        for row in some:
            if row["table"] is not None and row["changes"] + row["too_late"]:
                of_table[row["table"]].append((row, is_own))
    for rows in of_table.values():
        follows_late = False
        for row, is_own in sorted(rows, key=lambda one: str(one[0]["window"])):
            late, is_all = row["too_late"], is_wholly_late(row)
            waits = row["held"] + row["quarantined"]
            is_most = late > max(FEW_LATE, row["changes"] + waits)
            if is_own and (is_most or (is_all and (late > 1 or follows_late))):
                found.append(row)
            follows_late = is_all
    return sorted(found, key=lambda row: (row["window"], row["table"]))


def is_wholly_late(account: StoredAccount) -> bool:
    """Whether all events of a table in a window came too late, its repeats left aside.

    More repeats than late events are no sign of a wrong watermark: somebody delivered old events again.
    """
    late: int = account["too_late"]
    return not account["changes"] and late >= max(1, account["duplicates"])


def samples(lake: Lake, findings: Findings) -> dict[str, Markdown]:
    """What a reader of a failed check wants to see first, by the rule's name; empty for most rules.

    What is in quarantine, and what tables that nobody declares have, is read from what the run has written.
    """
    feed, accounts = findings.feed, findings.accounts
    found = _samples_of_facts(findings) | _samples_of_counts(feed, accounts)
    if any(row["quarantined"] for row in accounts):
        windows = sorted({row["window"] for row in accounts})
        if records := words.samples_of_windows(lake, feed, windows):
            found[rules.NOTHING_QUARANTINED.name] = records
    waiting = {row["window"] for row in accounts if row["declared"] is None and row["changes"]}
    if waiting:
        name = rules.TABLES_ARE_DECLARED.name
        lines = code_block("\n".join(lines_to_paste(lake, feed, waiting)), "yaml")
        found[name] = paragraphs([found[name], lines])
    return found | _samples_of_undeclared(lake, feed, accounts)


def _samples_of_undeclared(
    lake: Lake, feed: Feed, accounts: Sequence[StoredAccount]
) -> dict[str, Markdown]:
    """By the rule of such a warning, the names that are met and not declared, with the number of their events."""
    found = {}
    for warning in FORMATS[feed.format].warnings:
        windows = {row["window"] for row in accounts if row["warnings"].get(warning.word)}
        if warning.undeclared is None or not windows:
            continue
        declared = getattr(feed, warning.undeclared.declared_under)
        met = _names_met(lake, feed, warning.undeclared, windows)
        unmet = [name for name in declared if name not in met]
        counts = sorted(met.items(), key=lambda one: (-one[1], one[0]))
        lines = [
            f"{name}: {counted(count, 'event')}{hint and f'{hint}, which is declared and has no event'}"
            for name, count in counts
            if name not in declared
            for hint in [did_you_mean(name, unmet)]
        ]
        more = [f"{len(lines) - SHOWN:,} more"] if len(lines) > SHOWN else []
        found[warning.rule] = bullets(lines[:SHOWN] + more)
    return found


def _names_met(
    lake: Lake, feed: Feed, undeclared: Undeclared, windows: Collection[str]
) -> Counter[str]:
    """How many changes of these windows have each name."""
    images = ("after", "before", "scope")
    columns = ("operation", "derived", *images)
    found = Counter[str]()
    for rows in lake.in_process_table(Layer.SILVER, feed.name).batches(
        columns, {"window": windows}
    ):
        is_asked = pc.is_in(rows["operation"], pa.array(undeclared.operations))
        own = rows.filter(pc.and_(is_asked, pc.is_null(rows["derived"])))
        named = [pc.map_lookup(own[name], pa.scalar(undeclared.column), "first") for name in images]
        for one in pc.value_counts(pc.coalesce(*named).drop_null()).to_pylist():
            found[one["values"]] += one["counts"]
    return found


def _samples_of_facts(findings: Findings) -> dict[str, Markdown]:
    """What is known of the run without a look at its rows."""
    accounts = findings.accounts
    undeclared = sorted(
        {str(row["source_table"]) for row in accounts if row["declared"] is None and row["changes"]}
    )
    fallen = [_fell(findings.feed, row) for row in findings.falls]
    fallen += [_restarted(findings.feed, one) for one in findings.restarts]
    unordered = [
        f"{one.table}: {counted(one.rows, 'row')} in window {one.window}, behind changes of {one.before}:"
        f" {code(snapshot_line(findings.feed.name, one))}"
        for one in findings.unordered
    ]
    quarantined = [
        f"{name}: {count:,} of its events" for name, count in mostly_quarantined(findings).items()
    ]
    too_late = [
        f"{row['table']}: {row['too_late']:,} in window {row['window']}" for row in findings.late
    ]
    return {
        rules.NO_CONFLICTING_PAYLOADS.name: bullets(findings.conflicts),
        rules.IS_FRESH.name: bullets(
            f"{one.window}: the newest event is of {one.newest:%Y-%m-%d %H:%M:%S} UTC, {one.age} before its end"
            for one in findings.stale
        ),
        rules.MOST_EVENTS_ARE_TAKEN.name: bullets(quarantined),
        rules.MOST_EVENTS_ARE_IN_TIME.name: bullets(too_late),
        rules.TABLES_ARE_DECLARED.name: bullets(undeclared),
        rules.COLUMNS_ARE_DECLARED.name: bullets(undeclared_columns(accounts)),
        rules.POSITION_RISES_WITH_SOURCE_TIME.name: bullets(fallen),
        rules.SNAPSHOTS_ARE_IN_ORDER.name: bullets(unordered),
        rules.EVERY_TRANSACTION_IS_COMMITTED.name: open_transactions_in_words(findings.open),
        rules.NO_TRANSACTION_IS_OVERDUE.name: open_transactions_in_words(findings.overdue),
    }


def _fell(feed: Feed, row: StoredAccount) -> str:
    """A log file that ends before one with a lower number, and the command that says that a new log begins."""
    return (
        f"{row['table']}: log file {row['segment']} ends at {row['newest']}, one with a lower number at"
        f" {row['newest_before']}: {code(_line(feed, row['declared'], row['window'], row['begins']))}"
    )


def _line(feed: Feed, declared: str | None, window: str, begins: datetime) -> str:
    line = epoch_line(feed.name, declared if declared in feed.tables else None, window)
    return f"{line} --time {begins.replace(tzinfo=None).isoformat()}"


def _restarted(feed: Feed, one: Restart) -> str:
    """What shows that positions began again, and the command that says so."""
    line = epoch_line(feed.name, one.declared if one.declared in feed.tables else None, one.window)
    if one.fallen is None:
        return (
            f"{one.table}: all positions of window {one.window} are lower than those of {one.before}, although its"
            f" newest change is of {one.newest:%Y-%m-%d %H:%M:%S} UTC and not of"
            f" {one.newest_before:%Y-%m-%d %H:%M:%S} UTC: {code(line)}"
        )
    of = "" if one.part is None else f" of {one.part}"
    if not one.fallen.has_times:
        return (
            f"{one.table}: changes{of}, window {one.window}, stand below others that come before them there:"
            f" {code(line)}"
        )
    _, clock, position = one.fallen.events[0]
    begins, made = moment_of(clock), "made" if one.fallen.is_timed else "sent"
    return (
        f"{one.table}: changes{of} in window {one.window}, {made} from {begins:%Y-%m-%d %H:%M:%S} UTC on, stand below"
        f" others {made} until {one.newest_before:%Y-%m-%d %H:%M:%S} UTC; the first at"
        f" {'/'.join(map(str, position[1:]))}: {code(_line(feed, one.declared, one.window, begins))}"
    )


def epoch_line(feed: str, table: str | None, window: str) -> str:
    """The command that says that positions begin again in a window; ``table``: as the feed file names it."""
    of = f" --table {table}" if table else ""
    return f"weir epoch open {feed}{of} --window {window}"


def snapshot_line(feed: str, one: Unordered) -> str:
    """The same for a snapshot; where its window has older changes, too, only the time of their events parts them."""
    since = " --time TIME" if one.window == one.before else ""
    return f"{epoch_line(feed, one.declared, one.window)}{since} --snapshot complete"


def undeclared_columns(accounts: Sequence[StoredAccount]) -> list[str]:
    """``table.column`` for every column of a declared table that its stream has and the feed file has not."""
    return sorted(
        {f"{row['table']}.{name}" for row in accounts for name in row["undeclared_columns"]}
    )


@dataclass(frozen=True, slots=True)
class WindowLag:
    """A window, its newest event, and how old that was when the window ended, or is now where it is still open."""

    window: str
    newest: datetime
    age: timedelta


def lags(feed: Feed, accounts: Sequence[StoredAccount], now: datetime) -> list[WindowLag]:
    """One for each window of these accounts whose events have times."""
    newest: dict[str, datetime] = {}
    for row in accounts:
        moment = row.get("newest_event_at")
        if moment is not None:
            newest[row["window"]] = max(moment, newest.get(row["window"], moment))
    found = []
    for window, moment in sorted(newest.items()):
        end = parse_window(window, feed.window) + STEPS[feed.window]
        found.append(WindowLag(window, moment, min(end, now) - moment))
    return found


def stale_lags(feed: Feed, accounts: Sequence[StoredAccount], now: datetime) -> list[WindowLag]:
    """Those that are longer than the feed's ``is_fresh`` lets pass; none where it says nothing."""
    setting = feed.checks.get("is_fresh")
    if setting is None or setting.within is None:
        return []
    return [one for one in lags(feed, accounts, now) if one.age > setting.within]


SHOWN: Final = 10
"""Maximum number of lines that are shown of a rule."""

_OF_COUNT: Final = {
    "null_keys": rules.NO_NULL_KEY.name,
    "duplicates": rules.NO_EVENT_TWICE.name,
    "too_late": rules.NOTHING_TOO_LATE.name,
    "held": rules.NOTHING_HELD.name,
}
"""The rules that are broken as often as the accounts count something."""


def _samples_of_counts(feed: Feed, accounts: Sequence[StoredAccount]) -> dict[str, Markdown]:
    """In which window and table each thing was counted, as Markdown, by the rule's name."""
    found = {rule: _lines(accounts, count) for count, rule in _OF_COUNT.items()}
    for warning in FORMATS[feed.format].warnings:
        found[warning.rule] = _lines([{**row, **row["warnings"]} for row in accounts], warning.word)
    return found


def _lines(accounts: Iterable[Mapping[str, Any]], count: str) -> Markdown:
    numbers = [(row.get(count, 0), row["window"], row["table"] or _NO_TABLE) for row in accounts]
    most = sorted((one for one in numbers if one[0]), key=lambda one: (-one[0], *one[1:]))
    return bullets(f"{table}: {number:,} in {window}" for number, window, table in most[:SHOWN])
