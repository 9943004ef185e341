"""What a feed would make of a sample: the rows that gold would have, and what would go to quarantine.

Nothing is written. Put here what a person is shown of gold before there is any. Not here: the fold (``folding``), and
the sample (``sampling``).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import pyarrow as pa
import pyarrow.compute as pc

from assets.columns.bronze import BRONZE_ARROW
from assets.onboarding.folding import FoldedTable, tables_of
from assets.silver import classifying
from transforms.feed.feed import Feed, Table
from transforms.gold.columns import EFFECT, PARTS
from transforms.moments import moment_of
from transforms.record import BronzeRecord
from transforms.silver.accounting import Account
from transforms.silver.conforming import discovered_tables
from transforms.silver.conforming.described_tables import Description
from transforms.silver.conforming.discovered_tables import SeenTable
from transforms.silver.frames import CHANGES, TO_QUARANTINE


@dataclass(frozen=True, slots=True)
class PreviewTable:
    """One gold table as it would be: its name, its columns and rows, and how many deleted keys there are."""

    name: str
    table: Table
    rows: pa.Table
    deleted: int


@dataclass(frozen=True, slots=True)
class Quarantined:
    """Why events go to quarantine: a reason, how many have it, and the first of them with its source location."""

    reason: str
    count: int
    source_location: str
    detail: str


@dataclass(frozen=True, slots=True)
class Preview:
    """What a feed makes of some records.

    ``waiting``: changes of tables that are neither declared nor described, by the source's names.
    """

    records: int
    counts: Mapping[str, int]
    tables: tuple[PreviewTable, ...]
    quarantined: tuple[Quarantined, ...]
    waiting: Mapping[str, int]
    stopped: tuple[str, ...]
    warnings: Mapping[str, int]


def preview(feed: Feed, records: Sequence[BronzeRecord]) -> Preview:
    """What gold would have of these records, if they were all."""
    batch = pa.RecordBatch.from_pylist([_row(one) for one in records], schema=BRONZE_ARROW)
    classified = classifying.alone(feed, batch)
    of_windows = classified.accounts
    found, stopped = with_described(feed, of_windows)
    tables = tables_of(found, classified.of_kind(CHANGES))
    warnings: Counter[str] = Counter()
    for account in of_windows:
        warnings.update(account["warnings"])
    names = ("events", "changes", "duplicates", "quarantined", "control", "held")
    return Preview(
        len(records),
        {name: sum(account[name] for account in of_windows) for name in names},
        tuple(_table(name, tables[name]) for name in sorted(tables)),
        _quarantined(classified.of_kind(TO_QUARANTINE)),
        _waiting(found, of_windows),
        stopped,
        dict(warnings),
    )


def _row(one: BronzeRecord) -> dict[str, object]:
    names = ("window", "object", "generation", "line", "byte_offset", "header", "payload", "defect")
    headers = (
        None
        if one.headers is None
        else [{"key": key, "value": value} for key, value in one.headers]
    )
    return {
        **{name: getattr(one, name) for name in (*names, "key")},
        **{"landed_at": moment_of(one.landed_at), "headers": headers},
    }


def with_described(feed: Feed, accounts: Sequence[Account]) -> tuple[Feed, tuple[str, ...]]:
    """The feed with the tables that only its stream describes, and sentences on those that gold could not make."""
    described: dict[str, set[Description]] = {}
    met = set()
    for account in accounts:
        name = account["declared"]
        if name is None:
            continue
        if account["changes"]:
            met.add(SeenTable(str(account["table"]), str(account["source_table"]), str(name)))
        for schema in () if name in feed.tables else account["stream_schemas"]:
            if schema["key"] is not None:
                columns = tuple((column, kind) for column, kind in schema["columns"])
                defaults = tuple((column, text) for column, text in schema["defaults"])
                encoded = tuple(schema["encoded"] or ())
                one = Description(tuple(schema["key"]), columns, encoded, defaults)
                described.setdefault(name, set()).add(one)
    found = discovered_tables.tables(feed, described, met)
    words = tuple(discovered_tables.stopped_in_words(found.stopped))
    return replace(feed, tables={**feed.tables, **found.described}), words


def _waiting(feed: Feed, accounts: Sequence[Account]) -> dict[str, int]:
    found: Counter[str] = Counter()
    for account in accounts:
        if account["changes"] and (account["declared"] or "") not in feed.tables:
            found[str(account["source_table"])] += account["changes"]
    return dict(found)


def _table(name: str, folded: FoldedTable) -> PreviewTable:
    is_absent = pc.equal(folded.rows[EFFECT], "remove")
    present = folded.rows.filter(pc.invert(is_absent))
    by = [
        (column, "ascending")
        for column in folded.table.key or folded.table.columns
        # Lists, maps and rows within a row have no order.
        if not pa.types.is_nested(present[column].type)
    ]
    rows = (present.sort_by(by) if by else present).select([*folded.table.columns])
    deleted = folded.rows.filter(is_absent)[PARTS].to_pylist()
    return PreviewTable(name, folded.table, rows, len({tuple(one) for one in deleted}))


def _quarantined(found: pa.Table) -> tuple[Quarantined, ...]:
    rows = found.to_pylist()
    counts = Counter(row["reason"] for row in rows)
    firsts = {row["reason"]: row for row in reversed(rows)}
    return tuple(
        Quarantined(
            reason,
            count,
            f"{firsts[reason]['object']}:{firsts[reason]['line']}",
            firsts[reason]["detail"] or "",
        )
        for reason, count in counts.most_common()
    )
