"""Drops through the product's own stages, in this process: what silver, quarantine and the accounts have of them.

A scenario is a handful of objects; its name serves as the window of its records, so that scenarios never meet.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

import pyarrow as pa
from pyspark.sql.pandas.types import to_arrow_schema

from assets.columns import layers
from assets.landing.read_objects import records_of
from assets.silver import classify
from transforms.feed.feed import Feed, TableNames
from transforms.formats import FORMATS
from transforms.silver.accounting import Account
from transforms.silver.frames import CHANGES, TO_QUARANTINE

LANDED_AT = datetime(2026, 11, 20, 4, tzinfo=UTC)
ARROW: pa.Schema = to_arrow_schema(layers.Bronze.spark, timezone="UTC")


@dataclass(frozen=True)
class Scenario:
    """Objects by name, as landed."""

    drop: Mapping[str, bytes]
    table_names: TableNames = "plain"


@dataclass
class Outcome:
    """What became of a scenario: ``records`` that were cut, its ``accounts``, and where each event went.

    ``rows`` are those of silver, as their stage left them.
    """

    records: int = 0
    accounts: list[Account] = field(default_factory=list)
    rows: list[dict[str, object]] = field(default_factory=list)
    changes: list[dict[str, object]] = field(default_factory=list)
    quarantine: list[dict[str, object]] = field(default_factory=list)

    def count(self, name: str) -> int:
        """One of the accounts' counts, over all tables."""
        return sum(account[name] for account in self.accounts)

    @property
    def warnings(self) -> dict[str, int]:
        """How many events have each warning."""
        found: Counter[str] = Counter()
        for account in self.accounts:
            found.update(account["warnings"])
        return dict(sorted(found.items()))


def outcomes(feed: Feed, scenarios: Mapping[str, Scenario]) -> dict[str, Outcome]:
    """Every scenario's outcome, by name."""
    found = {name: Outcome() for name in scenarios}
    for naming in sorted({scenario.table_names for scenario in scenarios.values()}):
        named = {
            name: scenario for name, scenario in scenarios.items() if scenario.table_names == naming
        }
        found |= outcomes_of(replace(feed, table_names=naming), bronze(feed, named))
    return found


def outcomes_of(feed: Feed, rows: Iterable[Mapping[str, object]]) -> dict[str, Outcome]:
    """The outcome of each window that these rows of bronze are of."""
    found: dict[str, Outcome] = defaultdict(Outcome)
    landed = [*rows]
    for row in landed:
        found[str(row["window"])].records += 1
    batch = pa.RecordBatch.from_pylist(landed, schema=ARROW)
    made = classify.alone(feed, batch)
    for account in made.accounts:
        found[account["window"]].accounts.append(account)
    for row in made.of_kind(CHANGES, TO_QUARANTINE).to_pylist():
        if row["kind"] == CHANGES:
            found[row["window"]].rows.append(row)
            found[row["window"]].changes.append({**row, **as_maps(row)})
        else:
            found[row["window"]].quarantine.append(row)
    for outcome in found.values():
        outcome.changes.sort(key=source_location)
        outcome.quarantine.sort(key=source_location)
    return found


def as_maps(row: Mapping[str, object]) -> dict[str, object]:
    """The images of a row as dicts, which Arrow gives as pairs, and its times as texts."""
    return {
        name: None if row[name] is None else dict(row[name])  # type: ignore[call-overload]
        for name in ("before", "after", "attribute_ops", "scope")
    } | {name: in_utc(row[name]) for name in ("event_at", "extracted_at")}


def in_utc(microseconds: object) -> str | None:
    """A time as golden cases write it."""
    if not isinstance(microseconds, int):
        return None
    moment = datetime(1970, 1, 1) + timedelta(microseconds=microseconds)
    return moment.strftime("%Y-%m-%d %H:%M:%S.%f")


def bronze(feed: Feed, scenarios: Mapping[str, Scenario]) -> Iterator[dict[str, object]]:
    """The records of all scenarios as bronze has them."""
    for window, scenario in scenarios.items():
        for name, data in sorted(scenario.drop.items()):
            for one in records_of(feed, name, data, source=FORMATS[feed.format]):
                yield {
                    **{"window": window, "object": name, "generation": "generation"},
                    **{"line": one.line, "byte_offset": one.byte_offset, "header": one.header},
                    **{"payload": one.payload, "defect": one.defect, "landed_at": LANDED_AT},
                }


def source_location(row: Mapping[str, object]) -> tuple[object, ...]:
    """Where the record stood; of a key change, the delete comes first, and so does all that is derived."""
    place = (row["object"], row["line"], row["byte_offset"])
    # Of one record's quarantined events only the details tell which is which.
    return (*place, row.get("derived") is None, row.get("ordinal"), row.get("detail") or "")
