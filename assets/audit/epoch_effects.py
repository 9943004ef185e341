"""What an epoch would do to gold if it were opened: said before anybody decides, and nothing is changed."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC
from typing import Final, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from assets.control.live_rows import live_rows, only_live
from assets.gold import tables
from assets.gold.tables import GoldTable
from assets.storage.lake import Lake, Layer
from assets.wording import counted, spanned
from transforms.change import CONTROL, Key
from transforms.feed.decisions import Epoch
from transforms.feed.feed import Feed
from transforms.gold import folded_rows
from transforms.gold.fold_rows import keys_of

_KEYS_SHOWN: Final = 5


class EpochEffect(NamedTuple):
    """What an epoch would do to one gold table.

    ``table``: gold's name. ``rows``: how many rows it has. ``changes``: how many changes its ``windows`` from the
    epoch's first on have. ``unnamed``: the keys of the rows that none of them names; None where that is too much to
    look at here, and where the epoch removes nothing.
    """

    table: str
    rows: int
    changes: int
    windows: Sequence[str]
    unnamed: Sequence[Key] | None

    def in_words(self, feed: str, epoch: Epoch) -> str:
        """A line without an end."""
        has = f"gold.{feed}.{self.table} has {counted(self.rows, 'row')}"
        if not self.windows:
            return f"{has}; no change has landed yet from {epoch.window} on"
        stands = "stands" if self.changes == 1 else "stand"
        said = f"{has}; {counted(self.changes, 'change')} of {spanned(self.windows)} {stands} behind all older ones"
        if not epoch.complete:
            return said
        if self.unnamed is None:
            return f"{said}, and rows that they do not name would go"
        keys = [["null" if part is None else part for part in key] for key in self.unnamed]
        shown = "; ".join(", ".join(key) for key in keys[:_KEYS_SHOWN])
        more = "; …" if len(self.unnamed) > _KEYS_SHOWN else ""
        of = f" (key {shown}{more})" if shown else ""
        return f"{said}, and {counted(len(self.unnamed), 'row')} that they do not name{of} would go"


def effects_of(lake: Lake, feed: Feed, epoch: Epoch) -> list[EpochEffect]:
    """What an epoch would do to each gold table that it is for, in the order of their names."""
    rows = lake.in_process_table(Layer.ACCOUNTING, feed.name).rows(["window", "table", "changes"])
    found = []
    for name, table in tables.mirrors(lake, feed).items():
        if epoch.table not in (None, table.name):
            continue
        of_table = [row for row in rows if row["table"] == name and row["window"] >= epoch.window]
        windows = sorted({str(row["window"]) for row in of_table if row["changes"]})
        changes = sum(row["changes"] for row in of_table)
        stored = lake.in_process_table(Layer.GOLD, feed.name, name)
        count = live_rows(stored) if stored.exists else 0
        unnamed: list[Key] | None = None
        fits = lake.choice.fits_in_process(stored.size, count, changes)
        if epoch.complete and table.key and fits and count:
            unnamed = _unnamed(GoldTable(lake, feed, table, name), epoch, windows)
        found.append(EpochEffect(name, count, changes, windows, unnamed))
    return found


def _unnamed(gold: GoldTable, epoch: Epoch, windows: Sequence[str]) -> list[Key]:
    """The keys of gold's rows that no change of the new epoch names."""
    columns = ["key", "effect", "event_at"]
    silver = gold.lake.in_process_table(Layer.SILVER, gold.feed.name)
    changes = silver.read(columns, {"table": [gold.name], "window": windows})
    named = pc.and_(
        pc.is_valid(changes["key"]), pc.invert(pc.is_in(changes["effect"], pa.array(CONTROL)))
    )
    if epoch.time is not None:
        since = pa.scalar(epoch.time.astimezone(UTC), changes["event_at"].type)
        is_of_epoch = pc.greater_equal(changes["event_at"], since)
        named = pc.and_(named, pc.fill_null(is_of_epoch, True))
    keys = {tuple(key) for key in changes["key"].filter(named).to_pylist()}
    stored = gold.lake.in_process_table(Layer.GOLD, gold.feed.name, gold.name)
    rows = only_live(stored.read(folded_rows.rows_schema(gold.table)))
    unnamed = {*keys_of(gold.table, rows)} - keys
    return sorted(unnamed, key=lambda key: [text or "" for text in key])
