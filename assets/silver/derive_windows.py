"""Bronze to silver, quarantine and accounts, for some windows: classify, refuse, write, account.

Put here the order of these steps. Not here: the steps themselves (``classified_windows``, ``schema_changes``,
``commits``, ``stored_accounts``), the Dagster asset (``silver_asset``), and the rules (``violations``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from assets.bookkeeping import accounting, decisions, dismissals
from assets.bookkeeping.accounting import StoredAccount
from assets.bookkeeping.compacted import bases
from assets.bookkeeping.transactions import open_transactions
from assets.columns.silver import CHANGES, REFUSED
from assets.lake import Lake
from assets.layers import Layer
from assets.locks import writing
from assets.silver import (
    classified_windows,
    commits,
    schema_changes,
    stored_accounts,
    undeclared_tables,
    violations,
)
from assets.silver.classified_windows import ClassifiedWindows
from assets.silver.freshness import stale_lags
from assets.silver.samples_of_counts import samples_of_counts, samples_of_quarantine
from assets.silver.violations import Findings
from expectations import silver as rules
from transforms.display.markdown import Markdown, code_block, paragraphs
from transforms.feed.feed import Feed
from transforms.formats import FORMATS


@dataclass(frozen=True, slots=True)
class Derived:
    """What deriving some windows came to.

    ``accounts``: one row per window and table (``ACCOUNTING``). ``violations``: how often each rule of silver is
    broken, by the rule's name. ``samples``: what a reader of a failed check wants to see first, by the rule's name.
    ``executor``: which of them has classified the records.
    """

    accounts: Sequence[StoredAccount]
    violations: Mapping[str, int]
    samples: Mapping[str, Markdown]
    executor: str


def derive(
    lake: Lake, feed: Feed, windows: Sequence[str], judged_by: Lake | None = None
) -> Derived:
    """Write these windows' changes, quarantine and accounts, each in one commit, from their bronze alone.

    Args:
        lake: the warehouse that is read and written.
        feed: the feed as its file declares it; recorded decisions are added.
        windows: all of them are replaced.
        judged_by: the warehouse whose horizons say which events come too late, where that is another one. The proof of
            `weir verify` works in a scratch warehouse, which has no base rows of its own.

    Raises:
        SchemaChangeRefused: the feed file refuses a change of schema that these windows bring. Nothing is written.
        KeyDrift: every event of a table lacks a column of its key. Nothing is written.
        DecisionRefused: the feed contradicts what compacted history was made with (``bases.refuse_altered_past``).
        TableBusy: another run writes silver.
    """
    with writing(lake, Layer.SILVER, feed.name):
        return derive_alone(lake, decisions.with_recorded(lake, feed), windows, judged_by)


def derive_alone(
    lake: Lake, feed: Feed, windows: Sequence[str], judged_by: Lake | None = None
) -> Derived:
    """``derive`` for a caller that holds silver's lock already; the feed has its recorded decisions.

    Args:
        lake: the warehouse that is read and written.
        feed: the feed with its recorded decisions.
        windows: all of them are replaced.
        judged_by: see ``derive``.
    """
    horizons = bases.horizons(judged_by or lake, feed)
    bases.refuse_altered_past(lake, feed)
    made = classified_windows.made(lake, feed, windows, judged_by)
    accounts = stored_accounts.stored(feed, made.accounts)
    table = lake.in_process_table(Layer.ACCOUNTING, feed.name, columns=accounting.COLUMNS)
    earlier = table.rows()
    refuse(feed, made, accounts)
    accounting.announce(table, accounts, earlier)
    written, refused = commits.commit_windows(lake, feed, made, windows)
    dismissed = _dismissed(feed, made, windows)
    table.replace_windows(accounts, windows)
    made.unpersist()
    others = [row for row in earlier if row["window"] not in set(windows)]
    findings = Findings(
        accounts=accounts,
        landed=made.landed,
        written=written,
        refused=refused,
        falls=accounting.falls([*others, *accounts]),
        late=violations.mostly_late(accounts, others),
        stale=stale_lags(feed, accounts, datetime.now(UTC)),
        conflicts=[line for account in made.accounts for line in account["seen"]],
    )
    counts = violations.count_of_rules(feed, findings)
    samples = (
        violations.samples(findings)
        | samples_of_counts(feed, accounts)
        | samples_of_quarantine(lake, feed, windows, accounts)
    )
    counts[rules.NOTHING_QUARANTINED.name] -= dismissed
    if counts[name := rules.TABLES_ARE_DECLARED.name]:
        samples[name] = paragraphs([samples[name], _as_declared(lake, feed, accounts)])
    for rule, waiting in _waiting_transactions(lake, feed).items():
        counts[rule] = len(waiting)
        samples[rule] = open_transactions.described(waiting)
    if judged_by is None and bases.horizons(lake, feed) != horizons:
        # History was compacted meanwhile: what was judged by the horizon before is judged by the new one.
        return derive_alone(lake, feed, windows)
    return Derived(accounts, counts, samples, made.executor)


def _as_declared(lake: Lake, feed: Feed, accounts: Sequence[StoredAccount]) -> Markdown:
    """What to write into the feed file for the tables that it does not declare."""
    waiting = {row["window"] for row in accounts if row["declared"] is None and row["changes"]}
    lines = "\n".join(undeclared_tables.lines_to_paste(lake, feed, waiting))
    return code_block(lines, "yaml")


def _dismissed(feed: Feed, made: ClassifiedWindows, windows: Sequence[str]) -> int:
    """How many of the quarantined events a person has dismissed."""
    dismissed = feed.decisions.dismissed(windows)
    if not dismissed:
        return 0
    return dismissals.among(made.of_kind(REFUSED).where("derived IS NULL"), dismissed)


def _waiting_transactions(
    lake: Lake, feed: Feed
) -> dict[str, list[open_transactions.OpenTransaction]]:
    """The transactions of all windows that break a rule, by the rule's name."""
    if not FORMATS[feed.format].transactional:
        return {}
    waiting = open_transactions.still_open(lake, feed)
    return {
        rules.EVERY_TRANSACTION_IS_COMMITTED.name: waiting,
        rules.NO_TRANSACTION_IS_OVERDUE.name: [one for one in waiting if one.never_committed],
    }


def refuse(feed: Feed, made: ClassifiedWindows, accounts: Sequence[StoredAccount]) -> None:
    """Raise before anything is written where these windows bring what the feed does not take.

    Raises:
        SchemaChangeRefused: the feed file refuses a change of schema.
        KeyDrift: every event of a table lacks a column of its key.
    """

    def classified_rows() -> DataFrame:
        rows = made.of_kind(CHANGES, REFUSED)
        has_fault = F.col("reason").isNotNull()
        return rows.select("*", F.when(has_fault, F.struct("reason", "detail")).alias("fault"))

    schema_changes.refuse_in_stream(feed, accounts, classified_rows)
