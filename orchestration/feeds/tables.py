"""Tables as a feed file writes them: names, keys, columns, their types and their masks."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final

from orchestration.feeds.faults import Misdeclared, check_glob
from orchestration.feeds.keys import DeclaredTable
from orchestration.feeds.policies import policies_from
from transforms.column_types.column_type import UnknownType
from transforms.column_types.encodings import UnfitEncoding, check
from transforms.column_types.nested import Nested
from transforms.column_types.registry import KNOWN_TYPES, canonical_type, column_type
from transforms.feed.feed import Table
from transforms.feed.masks import DROP, HASH, KINDS, SHORTEST_KEY, MaskKey, MaskKind
from transforms.feed.names import UNFIT_IN_TABLE_NAMES
from transforms.feed.schema_policies import UNFIT_IN_COLUMN, Policies
from transforms.silver.schema_drift import did_you_mean

_UNFIT_IN_NAME: Final = re.compile(UNFIT_IN_TABLE_NAMES)


@dataclass(frozen=True, slots=True)
class TableDeclarations:
    """Turns the tables of one feed file into values, and refuses what is not valid."""

    misdeclared: Misdeclared

    def table(self, name: str, declared: DeclaredTable, usual: Policies) -> Table:
        """The table that one entry declares; ``usual`` are the policies that hold where it names none.

        Raises:
            FeedMisdeclared: something in it is not valid.
        """
        place = f"tables.{name}"
        self._check_table_name(name, place)
        columns = self.columns(f"{place}.columns", declared.columns)
        self._check_names(f"{place}.key", declared.key, columns)
        for column in declared.key:
            if isinstance(column_type(columns[column]), Nested):
                fault = (
                    f"{column} is a {columns[column]}, and a key's columns must be of simple types"
                )
                raise self.misdeclared(f"{place}.key", fault)
        order = list(columns) if declared.cdc_columns is None else declared.cdc_columns
        self._check_names(f"{place}.cdc_columns", order, columns)
        if missing := [column for column in columns if column not in order]:
            fault = f"leaves out {', '.join(missing)}; it must name every column once"
            raise self.misdeclared(f"{place}.cdc_columns", fault)
        check_glob(self.misdeclared, f"{place}.path", declared.path)
        if declared.history and not declared.key:
            raise self.misdeclared(f"{place}.history", "is for tables with a key")
        table = Table(
            name,
            tuple(declared.key),
            columns,
            tuple(order),
            declared.path,
            was=tuple(declared.was),
            renamed=declared.renamed,
            since=declared.since,
            policies=policies_from(declared.schema_changes, usual),
            history=declared.history,
            change_feed=declared.change_feed,
            snapshots=declared.snapshots,
            unavailable_value=tuple(declared.unavailable_value or ()),
        )
        table = replace(table, encodings=encodings_from(place, declared, table, self.misdeclared))
        if not declared.mask:
            return table
        masks = masks_from(place, declared.mask, table, self.misdeclared)
        kept = without_dropped(table, masks)
        unmasked = columns if len(kept) < len(columns) else {}
        return replace(table, columns=kept, masks=masks, unmasked_columns=unmasked)

    def _check_table_name(self, name: str, place: str) -> None:
        if _UNFIT_IN_NAME.search(name):
            fault = "a table's name cannot hold slashes, brackets or control characters, or begin or end "
            fault += "with a blank: table_names makes a folder of it"
            raise self.misdeclared(place, fault)
        parts = name.split(".")
        if len(parts) > 3 or not all(parts):
            forms = "table, schema.table or catalog.schema.table"
            raise self.misdeclared(place, f"a table's name is {forms} (see table_names)")

    def columns(
        self,
        place: str,
        declared: dict[str, str],
        read: Callable[[str], str] = canonical_type,
        known: Collection[str] = KNOWN_TYPES,
    ) -> dict[str, str]:
        """The columns with their types in one spelling: ``read`` gives it, of the ``known`` types.

        Raises:
            FeedMisdeclared: a name or a type cannot be a column's.
        """
        columns: dict[str, str] = {}
        written: dict[str, str] = {}
        for column, type_text in declared.items():
            if column.lower().startswith("_weir_"):
                raise self.misdeclared(f"{place}.{column}", "names in _weir_ are Weir's own")
            if UNFIT_IN_COLUMN.search(column):
                fault = "a column's name cannot hold blanks or any of ,;{}()=.` in a Delta table"
                raise self.misdeclared(f"{place}.{column}", fault)
            if twin := written.get(column.lower()):
                fault = f"differs from {twin} only in case, and Spark would take them for one"
                raise self.misdeclared(f"{place}.{column}", fault)
            written[column.lower()] = column
            try:
                columns[column] = read(type_text)
            except UnknownType as fault:
                raise self.misdeclared(f"{place}.{column}", str(fault), known) from None
        return columns

    def _check_names(self, place: str, names: list[str], columns: dict[str, str]) -> None:
        seen: set[str] = set()
        for name in names:
            if name not in columns:
                fault = f"{name!r} is not among the table's columns{did_you_mean(name, columns)}"
                raise self.misdeclared(place, fault, columns)
            if name in seen:
                raise self.misdeclared(place, f"names {name} twice")
            seen.add(name)


def encodings_from(
    place: str, declared: DeclaredTable, table: Table, misdeclared: Misdeclared
) -> dict[str, str]:
    """How the table's values are written, by column; ``place``: the table's, in the feed file.

    Raises:
        FeedMisdeclared: a column is none, or its type's values cannot be written so.
    """
    found: dict[str, str] = {}
    for column, text in declared.encoded.items():
        key, encoding = f"{place}.encoded.{column}", "".join(text.split()).lower()
        if column in table.renamed:
            fault = f"is an earlier name: say it of {table.renamed[column]}, which holds for both"
            raise misdeclared(key, fault)
        if column not in table.columns:
            fault = f"is no column of the table{did_you_mean(column, table.columns)}"
            raise misdeclared(key, fault, table.columns)
        try:
            check(table.columns[column], encoding)
        except UnfitEncoding as unfit:
            hint = did_you_mean(encoding, unfit.known)
            raise misdeclared(key, f"{unfit}{hint}", unfit.known) from None
        found[column] = encoding
    return found


# Column masks as a feed file writes them, and the secret of those that hash, which stands in the environment.


MASK_KEY: Final = "WEIR_MASK_KEY"
"""The setting that holds the secret under which values are hashed."""


def masks_from(
    place: str, declared: Mapping[str, str], table: Table, misdeclared: Misdeclared
) -> dict[str, MaskKind]:
    """The masks of a table, by column; ``place``: the table's, in the feed file.

    Raises:
        FeedMisdeclared: a column or a mask is none, a mask does not go with its column, or the secret is missing.
    """
    found: dict[str, MaskKind] = {}
    for column, word in declared.items():
        if fault := _fault(column, word, table):
            known = table.columns if column not in table.columns else ()
            raise misdeclared(f"{place}.mask.{column}", fault, known)
        kind = next((one for one in KINDS if one == word), None)
        if kind is None:
            raise misdeclared(
                f"{place}.mask.{column}",
                f"{word!r} is not a mask{did_you_mean(word, KINDS)}",
                KINDS,
            )
        if kind == HASH and (lacks := _lacks_key()):
            raise misdeclared(f"{place}.mask.{column}", lacks)
        found[column] = kind
    return found


def mask_key(tables: Iterable[Table]) -> MaskKey | None:
    """The secret, where a table hashes; feeds without such a mask do not know it."""
    is_needed = any(HASH in table.masks.values() for table in tables)
    return MaskKey(_secret()) if is_needed else None


def _fault(column: str, word: str, table: Table) -> str | None:
    if column in table.renamed:
        return f"is an earlier name: mask {table.renamed[column]}, and values under both names are masked"
    if column not in table.columns:
        return f"is no column of the table{did_you_mean(column, table.columns)}"
    if word == HASH and (kind := table.columns[column]) != "string":
        return f"a hash is a text, and the column is declared as {kind}: declare string, or use null or drop"
    if word in KINDS and word != HASH and column in table.identity:
        why = (
            "the key's"
            if table.key
            else "in a table without a key, whose rows all columns tell apart"
        )
        return f"the column is {why}, and {word} leaves nothing that tells rows apart: use hash"
    return None


def _secret() -> str:
    # A file that a secret is mounted from often ends with a line break.
    return os.environ.get(MASK_KEY, "").strip()


def _lacks_key() -> str | None:
    """Why nothing can be hashed, in words that never show the secret."""
    length = len(_secret())
    if length >= SHORTEST_KEY:
        return None
    found = f"has fewer than {SHORTEST_KEY} characters" if length else "is not set"
    return (
        f"hash needs a secret of at least {SHORTEST_KEY} characters in the environment variable"
        f" {MASK_KEY}, which {found}"
    )


def without_dropped(table: Table, masks: Mapping[str, MaskKind]) -> dict[str, str]:
    """The columns of gold: those that no mask drops."""
    return {name: kind for name, kind in table.columns.items() if masks.get(name) != DROP}
