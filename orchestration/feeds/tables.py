"""Tables as a feed file writes them: names, keys, columns, their types, encodings and masks."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace
from typing import Final

from orchestration.feeds.faults import InvalidKey, check_among
from orchestration.feeds.keys import DeclaredCsv, DeclaredTable
from orchestration.feeds.landings import check_glob
from orchestration.feeds.policies import policies_from
from transforms.column_types.column_type import ColumnType, UnknownType
from transforms.column_types.encodings import UnfitEncoding
from transforms.column_types.nested import Nested
from transforms.column_types.parts import check, leaves, type_at
from transforms.column_types.ranges import ENDS, OutOfRange
from transforms.column_types.registry import KNOWN_TYPES, canonical_type, column_type
from transforms.feed.erasures import SECRET
from transforms.feed.feed import USUAL_CSV, CsvDialect, Deletes, Table
from transforms.feed.masks import DROP, HASH, KINDS, SHORTEST_KEY, MaskKey, MaskKind
from transforms.feed.names import UNFIT_IN_TABLE_NAMES
from transforms.feed.schema_policies import UNFIT_IN_COLUMN, Policies
from transforms.near_names import did_you_mean

MASK_KEY: Final = "WEIR_MASK_KEY"
"""The setting that holds the secret under which values are hashed."""


def table_from(
    name: str,
    declared: DeclaredTable,
    usual: Policies,
    csv: CsvDialect = USUAL_CSV,
    deletes: Deletes = "remove",
) -> Table:
    """The table that one entry declares; ``usual``, ``csv`` and ``deletes`` hold where it names none of its own."""
    columns = columns_from(declared.columns, canonical_type, KNOWN_TYPES, "columns.")
    _check_names("key", declared.key, columns)
    for column in declared.key:
        if isinstance(column_type(columns[column]), Nested):
            fault = f"{column} is a {columns[column]}, and a key's columns must be of simple types"
            raise InvalidKey("key", fault)
    order = declared.cdc_columns or list(columns)
    _check_names("cdc_columns", order, columns)
    if missing := [column for column in columns if column not in order]:
        fault = f"leaves out {', '.join(missing)}; it must name every column once"
        raise InvalidKey("cdc_columns", fault)
    check_glob("path", declared.path)
    if declared.document is not None:
        _check_document(declared.document, columns)
    if declared.history and not declared.key:
        raise InvalidKey("history", "is for tables with a key")
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
        deletes=_deletes(declared, deletes),
        snapshots=declared.snapshots,
        unavailable_value=tuple(declared.unavailable_value or ()),
        csv=csv_from(declared.csv, csv),
        document=declared.document,
    )
    table = replace(table, encodings=_encodings(declared.encoded, table))
    table = replace(table, out_of_range=_ranges(declared.out_of_range, table))
    if not declared.mask:
        return table
    masks = {column: _mask(column, word, table) for column, word in declared.mask.items()}
    kept = {column: kind for column, kind in columns.items() if masks.get(column) != DROP}
    unmasked = columns if len(kept) < len(columns) else {}
    return replace(table, columns=kept, masks=masks, unmasked_columns=unmasked)


def _check_document(document: str, columns: Mapping[str, str]) -> None:
    check_among("document", document, "the table's columns", columns, columns)
    if (kind := columns[document]) != "string":
        raise InvalidKey("document", f"has extended JSON: declare it as string, not as {kind}")


def _deletes(declared: DeclaredTable, usual: Deletes) -> Deletes:
    deletes = declared.deletes or usual
    if deletes == "mark" and not declared.key:
        fault = "mark is for tables with a key: of equal rows none is the deleted one. Say `deletes: remove` here"
        raise InvalidKey("deletes", fault)
    return deletes


_WORDS: Final = {"tab": "\t", "\\t": "\t", "none": ""}


def csv_from(declared: DeclaredCsv | None, usual: CsvDialect) -> CsvDialect:
    """The dialect that was written; ``usual`` has what is left out."""
    given = declared.model_dump(exclude_unset=True) if declared else {}
    signs = ("delimiter", "quote", "escape")
    signs_given = {key: _WORDS.get(given[key], given[key]) for key in signs if key in given}
    for key, sign in signs_given.items():
        if key == "delimiter" and not sign:
            raise InvalidKey("csv.delimiter", "something has to stand between two fields")
        if (sign and not re.fullmatch(r"[^\w\s]|[\t_]", sign, re.ASCII)) or not sign.isascii():
            known = ["tab"] if key == "delimiter" else ["none"]
            fault = f"{given[key]!r} is not one character of ASCII, no letter, digit, blank or line break"
            raise InvalidKey(f"csv.{key}", fault, known)
    csv = replace(usual, **signs_given, header=given.get("header", usual.header))
    csv = replace(csv, null=given.get("null_word", usual.null))
    if csv.delimiter in (csv.quote, csv.escape):
        raise InvalidKey("csv.delimiter", f"{csv.delimiter!r} is the quote or the escape, too")
    # A quote that escapes a quote is doubling.
    return replace(csv, escape="") if csv.escape == csv.quote else csv


def check_table_name(name: str) -> None:
    """Refuse a name that cannot be a table's."""
    if re.search(UNFIT_IN_TABLE_NAMES, name):
        fault = (
            "a table's name cannot hold slashes, brackets or control characters, or begin or end"
            " with a blank: table_names makes a folder of it"
        )
        raise InvalidKey(f"tables.{name}", fault)
    parts = name.split(".")
    if len(parts) > 3 or not all(parts):
        forms = "table, schema.table or catalog.schema.table"
        raise InvalidKey(f"tables.{name}", f"a table's name is {forms} (see table_names)")


def columns_from(
    declared: Mapping[str, str],
    read: Callable[[str], str],
    known: Collection[str],
    prefix: str = "",
) -> dict[str, str]:
    """The columns with their types in one spelling: ``read`` gives it, of the ``known`` types."""
    columns: dict[str, str] = {}
    written: dict[str, str] = {}
    for column, type_text in declared.items():
        key = f"{prefix}{column}"
        if column.lower().startswith("_weir_"):
            raise InvalidKey(key, "names in _weir_ are Weir's own")
        if UNFIT_IN_COLUMN.search(column):
            fault = "a column's name cannot hold blanks or any of ,;{}()=.` in a Delta table"
            raise InvalidKey(key, fault)
        if twin := written.get(column.lower()):
            fault = f"differs from {twin} only in case, and Spark would take them for one"
            raise InvalidKey(key, fault)
        written[column.lower()] = column
        try:
            columns[column] = read(type_text)
        except UnknownType as unknown:
            raise InvalidKey(key, str(unknown), known) from None
    return columns


def _check_names(key: str, names: Iterable[str], columns: Mapping[str, str]) -> None:
    seen: set[str] = set()
    for name in names:
        check_among(key, name, "the table's columns", columns, columns)
        if name in seen:
            raise InvalidKey(key, f"names {name} twice")
        seen.add(name)


def _encodings(declared: Mapping[str, str], table: Table) -> dict[str, str]:
    """How the table's values are written, by column or by the path of a part."""
    found: dict[str, str] = {}
    for column, text in declared.items():
        key, encoding = f"encoded.{column}", "".join(text.split()).lower()
        if column in table.renamed:
            fault = f"is an earlier name: say it of {table.renamed[column]}, which holds for both"
            raise InvalidKey(key, fault)
        try:
            check(_type_at(key, column, table), encoding)
        except UnfitEncoding as unfit:
            raise InvalidKey(
                key, f"{unfit}{did_you_mean(encoding, unfit.known)}", unfit.known
            ) from None
        found[column] = encoding
    return found


def _ranges(declared: Mapping[str, OutOfRange], table: Table) -> Mapping[str, OutOfRange]:
    """What becomes of values that no date or time can be, by column or by the path of a part."""
    for column, policy in declared.items():
        key = f"out_of_range.{column}"
        kind = _type_at(key, column, table)
        if not any(one.name in ENDS for _, one in leaves(column, kind)):
            raise InvalidKey(
                key, f"is for columns of type {', '.join(ENDS)}, and this one is a {kind.name}"
            )
        if policy == "null" and column in table.key:
            raise InvalidKey(
                key, "the column is the key's, which cannot be null: use clamp or quarantine"
            )
    return declared


def _type_at(key: str, path: str, table: Table) -> ColumnType:
    """The type of a column, or of the part of one that a path names."""
    try:
        return type_at(path, table.columns)
    except LookupError as unknown:
        name, known = unknown.args
        whose = "column of the table" if "." not in path else f"part in {path}"
        fault = f"is no {whose}{did_you_mean(name, known)}"
        if "." in path:
            fault = f"{name!r} {fault}"
        raise InvalidKey(key, fault, known) from None


def _mask(column: str, word: str, table: Table) -> MaskKind:
    key = f"mask.{column}"
    if column in table.renamed:
        now = table.renamed[column]
        fault = f"is an earlier name: mask {now}, and values under both names are masked"
        raise InvalidKey(key, fault, () if column in table.columns else table.columns)
    if column not in table.columns:
        fault = f"is no column of the table{did_you_mean(column, table.columns)}"
        raise InvalidKey(key, fault, table.columns)
    kind = next((one for one in KINDS if one == word), None)
    if kind is None:
        raise InvalidKey(key, f"{word!r} is not a mask{did_you_mean(word, KINDS)}", KINDS)
    if kind == HASH and (of := table.columns[column]) != "string":
        fault = f"a hash is a text, and the column is declared as {of}: declare string, or use null or drop"
        raise InvalidKey(key, fault)
    if kind != HASH and column in table.identity:
        why = "in a table without a key, whose rows all columns tell apart"
        why = "the key's" if table.key else why
        fault = f"the column is {why}, and {word} leaves nothing that tells rows apart: use hash"
        raise InvalidKey(key, fault)
    if kind == HASH and len(_secret()) < SHORTEST_KEY:
        found = f"has fewer than {SHORTEST_KEY} characters" if _secret() else "is not set"
        fault = (
            f"hash needs a secret of at least {SHORTEST_KEY} characters in the environment variable"
        )
        raise InvalidKey(key, f"{fault} {MASK_KEY}, which {found}")
    return kind


def mask_key(tables: Iterable[Table]) -> MaskKey | None:
    """The secret, where a table hashes; feeds without such a mask do not know it."""
    is_needed = any(HASH in table.masks.values() for table in tables)
    return MaskKey(_secret()) if is_needed else None


def erasure_key() -> MaskKey | None:
    """The secret by which erased keys are told, where there is one: `weir erase` and runs after it need it."""
    secret = os.environ.get(SECRET, "").strip()
    return MaskKey(secret) if secret else None


def _secret() -> str:
    # A file that a secret is mounted from often ends with a line break.
    return os.environ.get(MASK_KEY, "").strip()
