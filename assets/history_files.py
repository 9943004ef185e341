"""The versions of a small gold table's rows, rewritten whole in this process.

Not here: which versions there are (``transforms/gold/history.py``), and larger tables of them (``versions``).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa

from assets import arrow_values, arrow_versions
from assets.delta_files import DeltaFiles, may_be_rewritten
from assets.gold_columns.versions import VALID_TO
from assets.lake import Lake
from transforms.feed import Feed, Table
from transforms.gold.change import Key
from transforms.gold.history import Version
from transforms.horizons import Horizon
from transforms.table_names import HISTORY


@dataclass(frozen=True)
class HistoryFiles:
    """The table of versions that lies beside one gold table."""

    table: Table
    files: DeltaFiles

    @classmethod
    def of(cls, lake: Lake, feed: Feed, table: Table, name: str) -> HistoryFiles:
        """The table as it is now."""
        return cls(table, DeltaFiles.of(lake, "gold", feed, name + HISTORY))

    @property
    def exists(self) -> bool:
        """Whether it is there."""
        return self.files.table is not None

    @property
    def is_small(self) -> bool:
        """Whether it may be rewritten whole: of another type than now, a value is Spark's to cast."""
        return may_be_rewritten(self.files) and self.files.has_types(
            arrow_versions.schema(self.table)
        )

    def put(
        self,
        told: Mapping[Key, Sequence[Version]],
        horizon: Horizon | None,
        keys: Collection[Key] | None,
    ) -> None:
        """Put what silver can tell of these keys, or of all, in place of the versions before, in one commit.

        Versions that ended at or below the horizon are not among what silver can tell, and stay.
        """
        schema = arrow_versions.schema(self.table)
        stood = self.files.read(schema)
        ends = stood[VALID_TO].to_pylist()
        of_keys = self._keys_of(stood)
        kept = [
            at
            for at, (key, end) in enumerate(zip(of_keys, ends, strict=True))
            if (keys is not None and key not in keys)
            or (horizon is not None and end is not None and tuple(end) <= horizon.position)
        ]
        new = [(key, version) for key, some in told.items() for version in some]
        cells = arrow_versions.cells(self.table, new)
        rows = pa.table([arrow_versions.array(cells[one.name], one.type) for one in schema], schema)
        whole = pa.concat_tables([arrow_values.rows_at(stood, kept), rows])
        self.files.write(whole, {} if keys is None else None)

    def standing(self, keys: Collection[Key], horizon: Horizon | None) -> dict[Key, list[Version]]:
        """The versions of these keys that stand there, but for those that ended at or below the horizon."""
        stood = self.files.read(arrow_versions.schema(self.table))
        mine = [at for at, key in enumerate(self._keys_of(stood)) if key in keys]
        rows = arrow_values.rows_at(stood, mine)
        found: dict[Key, list[Version]] = {}
        for key, one in zip(
            self._keys_of(rows), arrow_versions.read(self.table, rows), strict=True
        ):
            if horizon is None or one.ended is None or one.ended.position > horizon.position:
                found.setdefault(key, []).append(one)
        return found

    def _keys_of(self, rows: pa.Table) -> list[Key]:
        kinds = self.table.columns
        parts = [arrow_values.texts(rows[name], kinds[name]) for name in self.table.key]
        return [*zip(*parts, strict=True)]
