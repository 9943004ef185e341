"""The table of versions beside a small gold table, read and rewritten whole in this process.

Put here how its file is read and written. Not here: which versions there are (``local_history``,
``transforms/gold/history.py``), and larger tables (``history``).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa

from assets.arrow import canonical_texts, typed_values
from assets.arrow.gold import history_columns
from assets.columns.history import VALID_TO
from assets.delta.local_table import LocalTable, may_be_rewritten
from assets.gold.gold_table import GoldTable
from assets.layers import Layer
from transforms.feed.feed import Table
from transforms.feed.table_names import HISTORY
from transforms.gold.change import Key
from transforms.gold.history import Version
from transforms.horizons import Horizon


@dataclass(frozen=True)
class HistoryFiles:
    """The table of versions that lies beside one gold table."""

    table: Table
    files: LocalTable

    @classmethod
    def of(cls, gold: GoldTable) -> HistoryFiles:
        """The table as it is now."""
        files = gold.lake.local_table(Layer.GOLD, gold.feed.name, gold.name + HISTORY)
        return cls(gold.table, files)

    @property
    def exists(self) -> bool:
        """Whether the table has been written."""
        return self.files.table is not None

    @property
    def is_small(self) -> bool:
        """Whether it may be rewritten in this process: Spark has to cast values of other types than declared."""
        return may_be_rewritten(self.files) and self.files.has_types(
            history_columns.schema(self.table)
        )

    def put(
        self,
        versions: Mapping[Key, Sequence[Version]],
        horizon: Horizon | None,
        keys: Collection[Key] | None,
    ) -> None:
        """Put these versions in place of those before, in one commit.

        Versions that ended at or below the horizon stay: they can no longer be derived from silver.

        Args:
            versions: The versions that can be derived from silver, by key.
            horizon: Up to where silver's changes are compacted.
            keys: The keys whose versions are replaced; None for all.
        """
        schema = history_columns.schema(self.table)
        kept_rows = self.files.read(schema)
        ends = kept_rows[VALID_TO].to_pylist()
        of_keys = self._keys_of(kept_rows)
        left = [
            at
            for at, (key, end) in enumerate(zip(of_keys, ends, strict=True))
            if (keys is not None and key not in keys)
            or (horizon is not None and end is not None and tuple(end) <= horizon.position)
        ]
        new = [(key, version) for key, some in versions.items() for version in some]
        cells = history_columns.cells(self.table, new)
        rows = pa.table(
            [history_columns.array(cells[one.name], one.type) for one in schema], schema
        )
        whole = pa.concat_tables([typed_values.rows_at(kept_rows, left), rows])
        self.files.write(whole, {} if keys is None else None)

    def versions_of(
        self, keys: Collection[Key], horizon: Horizon | None
    ) -> dict[Key, list[Version]]:
        """The versions of these keys in the table, without those that ended at or below the horizon."""
        kept_rows = self.files.read(history_columns.schema(self.table))
        mine = [at for at, key in enumerate(self._keys_of(kept_rows)) if key in keys]
        rows = typed_values.rows_at(kept_rows, mine)
        found: dict[Key, list[Version]] = {}
        for key, one in zip(
            self._keys_of(rows), history_columns.read(self.table, rows), strict=True
        ):
            if horizon is None or one.ended is None or one.ended.position > horizon.position:
                found.setdefault(key, []).append(one)
        return found

    def _keys_of(self, rows: pa.Table) -> list[Key]:
        kinds = self.table.columns
        parts = [canonical_texts.texts(rows[name], kinds[name]) for name in self.table.key]
        return [*zip(*parts, strict=True)]
