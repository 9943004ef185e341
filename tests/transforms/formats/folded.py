"""What the changes of many scenarios fold to: the rows that gold would have of each.

All is the product's own, in this process: up to silver as ``in_process`` has it, then the stages of gold.
What comes out is plain Python.
"""

from __future__ import annotations

import base64
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from decimal import Decimal

import pyarrow as pa
import pyarrow.compute as pc

from assets.onboarding.preview import tables_of
from tests.transforms.formats import in_process
from tests.transforms.formats.in_process import Outcome, Scenario
from transforms.feed.feed import Feed, Table
from transforms.gold.columns import EFFECT
from transforms.silver.frames import OUTPUT


@dataclass
class Folded(Outcome):
    """What became of a scenario, and the rows that each gold table then has."""

    state: dict[str, list[dict[str, object]]] = field(default_factory=dict)


def folded(feed: Feed, scenarios: Mapping[str, Scenario]) -> dict[str, Folded]:
    """Every scenario's outcome, by name: through the product's stages, and folded."""
    found = {
        name: Folded(**vars(outcome))
        for name, outcome in in_process.outcomes(feed, scenarios).items()
    }
    for one in found.values():
        rows = pa.Table.from_pylist(one.rows, schema=OUTPUT)
        for gold, made in tables_of(feed, rows).items():
            if some := sorted(gold_rows(made.table, made.rows), key=str):
                one.state[gold] = some
    return found


def gold_rows(table: Table, rows: pa.Table) -> Iterator[dict[str, object]]:
    """Those of the rows that are present, one per copy, as JSON has them."""
    present = rows
    if EFFECT in rows.column_names:
        present = rows.filter(pc.not_equal(rows[EFFECT], "remove"))
    for row in present.select([*table.columns]).to_pylist(maps_as_pydicts="strict"):
        yield {name: shown(value) for name, value in row.items()}


def shown(value: object) -> object:
    """A value as JSON has it; a time as people write it, without a fraction that is nothing."""
    if not isinstance(value, datetime):
        return plain(value)
    text = value.replace(tzinfo=None).isoformat(sep=" ")
    return text.rstrip("0") if "." in text else text


def plain(value: object) -> object:
    """A value as JSON has it: decimals, dates and infinities as text, bytes as base64, times in UTC."""
    match value:
        case Decimal():
            return str(value)
        case datetime():
            moment = value if value.tzinfo is None else value.astimezone(UTC)
            return moment.strftime("%Y-%m-%d %H:%M:%S.%f")
        case date():
            return value.isoformat()
        case bytes() | bytearray():
            return base64.b64encode(value).decode()
        case list():
            return [plain(one) for one in value]
        case dict():
            return {str(plain(key)): plain(one) for key, one in value.items()}
        case float() if not math.isfinite(value):
            return str(value)
        case _:
            return value
