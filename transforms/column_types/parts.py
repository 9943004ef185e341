"""Parts of arrays, maps and structs: their paths, and how a feed file says that their values are written or taken.

A path is the column and, behind points, ``element`` of an array, ``key`` and ``value`` of a map, and a struct's
fields, as Spark names them: ``periods.element.begins``. What is said of a column or a part holds for all that lies in
it, as far as its types can have it; the longest path counts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

from transforms.column_types import encodings
from transforms.column_types.column_type import ColumnType, Judge, Unfit, judged
from transforms.column_types.encodings import UnfitEncoding, judge_of_encoded
from transforms.column_types.nested import Array, Map, Nested, Struct, array_of, map_of, struct_of
from transforms.column_types.numbers import DecimalNumber
from transforms.column_types.ranges import ENDS, LATER, UNKNOWN, OutOfRange, side_of
from transforms.column_types.registry import column_type
from transforms.json_values import MalformedJson, Number, as_text, read

ELEMENT, KEY, VALUE = "element", "key", "value"


def parts_of(kind: ColumnType) -> Mapping[str, ColumnType]:
    """The types that one holds, by their names in a path; none of a simple one."""
    if isinstance(kind, Array):
        return {ELEMENT: kind.element}
    if isinstance(kind, Map):
        return {KEY: kind.key, VALUE: kind.item}
    return kind.fields if isinstance(kind, Struct) else {}


def leaves(path: str, kind: ColumnType) -> Iterator[tuple[str, ColumnType]]:
    """The simple types in one, with their paths; a simple one is its own."""
    if not isinstance(kind, Nested):
        yield path, kind
    for name, part in parts_of(kind).items():
        yield from leaves(f"{path}.{name}", part)


def type_at(path: str, columns: Mapping[str, str]) -> ColumnType:
    """The type of a column, or of a part of one.

    Raises:
        LookupError: there is none; its arguments are what is no name there, and the names that are.
    """
    column, *names = path.split(".")
    if column not in columns:
        raise LookupError(column, tuple(columns))
    kind = column_type(columns[column])
    for name in names:
        known = parts_of(kind)
        if name not in known:
            raise LookupError(name, tuple(known))
        kind = known[name]
    return kind


def check(kind: ColumnType, encoding: str) -> None:
    """Refuse an encoding that no value of a type can have, nor one in it.

    Raises:
        UnfitEncoding: it fits nothing there.
    """
    faults = []
    for _, leaf in leaves("", kind):
        try:
            return encodings.check(leaf.name, encoding)
        except UnfitEncoding as unfit:
            faults.append(unfit)
    raise next((one for one in faults if one.known), faults[0])


def encoding_at(path: str, kind: ColumnType, said: Mapping[str, str]) -> str | None:
    """How the values of a simple type are written, by what is said of it or of what it lies in."""
    for around in _around(path):
        if (encoding := said.get(around)) is not None:
            try:
                encodings.check(kind.name, encoding)
            except UnfitEncoding:
                continue
            return encoding
    return None


def _around(path: str) -> Iterator[str]:
    """A path, and those of what it lies in, the column last."""
    while path:
        yield path
        path = path.rpartition(".")[0]


class Said(NamedTuple):
    """What is said of the parts of a column: how values are written, and what becomes of dates and times, by path."""

    encodings: tuple[tuple[str, str], ...]
    out_of_range: tuple[tuple[str, OutOfRange], ...]


def said_of(
    column: str,
    type_name: str,
    encodings: Mapping[str, str],
    own: Mapping[str, OutOfRange],
    usual: OutOfRange,
) -> Said:
    """What a feed file says of each simple type in a column; ``own`` and ``usual``: of dates and times out of range."""
    of_leaves = [*leaves(column, column_type(type_name))]
    written = [(path, encoding_at(path, kind, encodings)) for path, kind in of_leaves]
    ranges = [
        (path, next((own[one] for one in _around(path) if one in own), usual))
        for path, kind in of_leaves
        if kind.name in ENDS
    ]
    return Said(
        tuple((path, one) for path, one in written if one is not None),
        tuple((path, one) for path, one in ranges if one != "quarantine"),
    )


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Adapted(ColumnType):
    """A simple type within others, of which the feed file says more."""

    simple: ColumnType
    encoding: str | None
    out_of_range: OutOfRange

    @property
    def key_judge(self) -> Judge:
        """The judge of a map's keys, which are never null."""

        def judge(value: str | bytes) -> str | None:
            text = value if isinstance(value, str) else value.decode("utf-8", "replace")
            encoding = self.encoding
            own = self.simple.key_judge if encoding is None else _judge(self.simple, encoding)
            found = own(text)
            if found is None and self.out_of_range == "clamp":
                found = _end(text, self.simple.name, encoding)
            return found

        return judge

    def json_text(self, part: Any) -> str:
        """As the type's own, by the encoding; or null or an end of the range."""
        try:
            return self._as_written(part)
        except Unfit:
            text = as_text(part)
            if self.out_of_range == "clamp" and (
                end := _end(text, self.simple.name, self.encoding)
            ):
                return self.simple.json_text(end)
            if (
                self.out_of_range == "null"
                and side_of(text, self.simple.name, self.encoding) is not None
            ):
                return "null"
            raise

    def _as_written(self, part: Any) -> str:
        # A number of JSON is itself, and no base64.
        is_number = isinstance(self.simple, DecimalNumber) and type(part) in (int, Number)
        if self.encoding is None or is_number:
            return self.simple.json_text(part)
        return self.simple.json_text(judged(as_text(part), _judge(self.simple, self.encoding)))


def _judge(kind: ColumnType, encoding: str) -> Judge:
    return judge_of_encoded(kind.name, encoding)


def _end(text: str | None, type_name: str, encoding: str | None) -> str | None:
    side = side_of(text, type_name, encoding)
    return None if side in (None, UNKNOWN) else ENDS[type_name][side == LATER]


@lru_cache(maxsize=4096)
def adapted(column: str, type_name: str, said: Said) -> ColumnType:
    """A type that holds others, as the feed file says that the values in it are written and taken."""
    written, ranges = dict(said.encodings), dict(said.out_of_range)

    def adapt(path: str, kind: ColumnType) -> ColumnType:
        encoding, policy = written.get(path), ranges.get(path, "quarantine")
        if encoding is None and policy == "quarantine":
            return kind
        return Adapted(
            *(kind.name, kind.arrow, kind.judge),
            simple=kind,
            encoding=encoding,
            out_of_range=policy,
        )

    return _with_leaves(column, column_type(type_name), adapt)


def _with_leaves(
    path: str, kind: ColumnType, adapt: Callable[[str, ColumnType], ColumnType]
) -> ColumnType:
    parts = {
        name: _with_leaves(f"{path}.{name}", part, adapt) for name, part in parts_of(kind).items()
    }
    if isinstance(kind, Array):
        return array_of(parts[ELEMENT], is_set=kind.is_set)
    if isinstance(kind, Map):
        return map_of(parts[KEY], parts[VALUE])
    return struct_of(parts) if isinstance(kind, Struct) else adapt(path, kind)


class Misfit(NamedTuple):
    """A value that its type cannot hold, and where it lies."""

    path: str
    value: str | None
    kind: ColumnType


def misfit_in(column: str, kind: ColumnType, text: str) -> Misfit:
    """The first value in a column's text, all of which does not fit, that does not fit its own type."""
    try:
        found = _misfit(column, kind, read(text))
    except (MalformedJson, RecursionError):
        found = None
    return found or Misfit(column, text, kind)


def _misfit(path: str, kind: ColumnType, part: Any) -> Misfit | None:
    try:
        kind.json_text(part)
    except Unfit:
        found = next((one for one in _within(path, kind, part) if one is not None), None)
        return found or Misfit(path, as_text(part), kind)
    return None


def _within(path: str, kind: ColumnType, part: Any) -> Iterable[Misfit | None]:
    if isinstance(kind, Array) and type(part) is list:
        yield from (
            _misfit(f"{path}.{ELEMENT}", kind.element, one) for one in part if one is not None
        )
    if isinstance(kind, Map | Struct) and type(part) is dict:
        for name, one in part.items():
            if isinstance(kind, Map):
                if kind.key.key_judge(name) is None:
                    yield Misfit(f"{path}.{KEY}", name, kind.key)
                of_value = f"{path}.{VALUE}", kind.item
            elif name in kind.fields:
                of_value = f"{path}.{name}", kind.fields[name]
            else:
                continue
            if one is not None:
                yield _misfit(*of_value, one)
