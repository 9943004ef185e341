"""How a row is written so that a source and gold can be compared: a text for each column, by the types of both.

A form is one way to write values. The texts of a form are the same wherever they are made; only the SQL that makes
them differs. What has no form cannot be compared, and why is said in words.

| form | written as |
|---|---|
| ``number`` | all digits, without zeros at the end of a fraction: ``1.5``, ``-3``, ``0`` |
| ``exact`` | the database's own digits, zeros included, as a text column of gold has them |
| ``text`` | itself |
| ``truth`` | ``true``, ``false`` |
| ``day`` | ``2026-11-20`` |
| ``moment``, ``clock`` | ``2026-11-20 10:00:00.5``, the first in UTC |
| ``bytes`` | hexadecimal digits |
| ``float32``, ``float64`` | the hexadecimal digits of their bits; there is one zero |
| ``array of …`` | its elements in brackets, each as its form has it |

A row is the texts of its columns with a bar between. Null is a tilde, and texts that may hold either sign have their
length before them, so that no two rows are written alike.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Final

from transforms.column_types.column_type import UnknownType
from transforms.column_types.nested import Array
from transforms.column_types.numbers import DecimalNumber, WholeNumber
from transforms.column_types.ranges import OutOfRange
from transforms.column_types.registry import column_type

NULL, BAR, ELEMENT = "~", "|", ","
"""What stands for null, between columns, and between the elements of an array."""


@dataclass(frozen=True, slots=True)
class SourceColumn:
    """One column as the source has it.

    ``kind``: the name of its type, in small letters and without what stands in brackets behind it. ``element``: of an
    array that of its elements' type. ``is_enum``: its type is a list of words. ``is_by_bytes``: whether its texts
    compare by their bytes, as gold's do. ``has_fraction``: whether its values may have digits behind a point.
    ``charset`` and ``collation``: of MySQL's texts, those of the column.
    """

    name: str
    kind: str
    element: str | None = None
    is_nullable: bool = True
    is_enum: bool = False
    is_by_bytes: bool = True
    has_fraction: bool = True
    charset: str | None = None
    collation: str | None = None


@dataclass(frozen=True, slots=True)
class Form:
    """One way to write values: its name, and that of its elements where these are an array's.

    ``out_of_range``: what gold has in place of a date or time beyond the years 1 to 9999.
    """

    name: str
    element: str | None = None
    out_of_range: OutOfRange = "quarantine"

    @property
    def needs_length(self) -> bool:
        """Whether its texts may have signs of which a row is made."""
        return self.name in ("text", "padded")


@dataclass(frozen=True, slots=True)
class Compared:
    """One column that can be compared: what gold calls it, what the source does, and how it is written."""

    name: str
    source: SourceColumn
    kind: str
    form: Form


# Which form two types have in common.

_TEXTS: Final = frozenset(
    {
        *("text", "character varying", "citext", "name", "xml", "json", "jsonb", "uuid", "inet"),
        *("cidr", "macaddr", "macaddr8", "ltree", "time without time zone"),
        *("int4range", "int8range", "numrange", "daterange", "tsrange"),
        # MySQL's and MariaDB's; a JSON column of MySQL's is sent with other blanks than it is shown.
        *("char", "varchar", "tinytext", "mediumtext", "longtext", "enum", "set", "time"),
    }
)
_WHOLE: Final = frozenset({"smallint", "integer", "bigint", "tinyint", "mediumint", "int", "year"})
_EXACT: Final = _WHOLE | {"numeric", "decimal"}
_BYTES: Final = frozenset(
    {"bytea", "binary", "varbinary", "tinyblob", "blob", "mediumblob", "longblob"}
)
_OF_ELEMENTS: Final = ("number", "exact", "text", "truth", "day")


def form_of(source: SourceColumn, kind: str, out_of_range: OutOfRange) -> Form | str:
    """The form that a column of the source and one of gold (of type ``kind``) share, or why there is none."""
    try:
        gold = column_type(kind)
    except UnknownType:
        return f"gold's type {kind} has no text that a database makes, too"
    if isinstance(gold, Array):
        if gold.is_set:
            return "a set of gold has no order that the source's array has"
        return _form_of_array(source, gold.element.name)
    name = _form_name(source.kind, gold.name, source.is_enum, gold)
    if name is None:
        return f"{source.kind} and gold's {kind} are not written alike"
    return Form(name, out_of_range=out_of_range)


def _form_of_array(source: SourceColumn, inner: str) -> Form | str:
    if source.element is None:
        return f"{source.kind} is no array, as gold's column is"
    name = _form_name(source.element, inner, False, column_type(inner))
    if name not in _OF_ELEMENTS:
        return f"arrays of {source.element} and of gold's {inner} are not written alike"
    return Form("array", name)


def _form_name(source: str, gold: str, is_enum: bool, kind: object) -> str | None:
    if isinstance(kind, WholeNumber | DecimalNumber):
        return "number" if source in _EXACT else None
    pairs = {
        ("boolean", "boolean"): "truth",
        ("tinyint", "boolean"): "truth",
        ("date", "date"): "day",
        ("timestamp with time zone", "timestamp"): "moment",
        # MySQL's, which is one moment whatever the session's zone.
        ("timestamp", "timestamp"): "moment",
        **{
            (clock, gold): "clock"
            for clock in ("timestamp without time zone", "datetime")
            for gold in ("timestamp", "timestamp_ntz")
        },
        **{(one, "binary"): "bytes" for one in _BYTES},
        ("real", "float"): "float32",
        ("double precision", "double"): "float64",
        ("character", "string"): "padded",
    }
    if gold == "string" and (source in _TEXTS or is_enum):
        return "text"
    if gold == "string" and source in _EXACT:
        return "exact"
    return pairs.get((source, gold))


# Which columns of a table are compared.


@dataclass(frozen=True, slots=True)
class Declared:
    """What gold's table says of a column beside its type: it is ``masked``, or what becomes of dates out of range."""

    kind: str
    masked: bool = False
    out_of_range: OutOfRange = "quarantine"


@dataclass(frozen=True, slots=True)
class Columns:
    """The columns that are compared, the key's first, and why each other one is not."""

    key: tuple[Compared, ...]
    others: tuple[Compared, ...]
    left_out: Mapping[str, str]

    @property
    def all(self) -> tuple[Compared, ...]:
        """All columns that are compared."""
        return (*self.key, *self.others)


def columns_of(
    gold: Mapping[str, Declared],
    key: Collection[str],
    source: Mapping[str, SourceColumn],
    spelled: Mapping[str, str],
) -> Columns:
    """Which columns of a table are compared.

    ``source``: the source's columns by their names. ``spelled``: the source's names of those that gold spells
    otherwise, each with gold's.
    """
    by_gold = {spelled.get(name, name): one for name, one in source.items()}
    left_out: dict[str, str] = {}
    found: dict[str, Compared] = {}
    for name, declared in gold.items():
        theirs = by_gold.get(name)
        if declared.masked:
            left_out[name] = "it is masked"
        elif theirs is None:
            left_out[name] = "the source has no such column"
        else:
            form = form_of(theirs, declared.kind, declared.out_of_range)
            if isinstance(form, str):
                left_out[name] = form
            else:
                found[name] = Compared(name, theirs, declared.kind, form)
    for name in by_gold:
        if name not in gold:
            left_out[name] = "gold has no such column"
    return Columns(
        tuple(found[name] for name in key if name in found),
        tuple(one for name, one in found.items() if name not in key),
        left_out,
    )
