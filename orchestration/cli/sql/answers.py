"""The rows of an answer as a person or a program reads them: a table, JSON lines, or CSV.

Values have the texts that Spark gives them, whoever answers. The table is for people: records are shown as text,
digests are short, and Weir's own columns are there only where they are asked for. Programs read whole values.
"""

from __future__ import annotations

import json
import re
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, TextIO, TypeAlias

import pyarrow as pa
from sqlglot import exp

from assets.wording import counted
from orchestration.cli.sql.question import names_in
from orchestration.console import put_csv, put_json_text
from orchestration.sheets import Grid, Sheet
from transforms.column_types.registry import column_type
from transforms.errors import QueryRefused
from transforms.feed.names import TOMBSTONES
from transforms.gold.columns import (
    BEGAN_BY,
    COPY,
    ENDED_BY,
    EVENT_AT,
    EVENT_ID,
    KEY,
    LOG_POSITION,
    RESET,
)

STYLES = ("table", "jsonl", "csv")


@dataclass(frozen=True, slots=True)
class QueryAnswer:
    """The rows of an answer.

    ``columns``: their names, of which several may be the same. ``texts``: one list per row, of its values as texts,
    None for a null. ``json_lines``: one JSON object per row. ``binary``: the numbers, from 0, of the columns of bytes,
    whose texts are base64.
    """

    columns: Sequence[str]
    texts: Callable[[], Iterator[list[str | None]]]
    json_lines: Callable[[], Iterator[str]]
    binary: frozenset[int] = frozenset()


def print_rows(answer: QueryAnswer, style: str, out: TextIO | None = None) -> None:
    """Print the rows: an aligned table, one JSON object a line, or CSV with a header; ``out``: not standard output."""
    if style == "jsonl":
        for line in answer.json_lines():
            put_json_text(line, out)
    elif style == "csv":
        put_csv([answer.columns], out)
        put_csv((["" if one is None else one for one in row] for row in answer.texts()), out)
    else:
        table = Grid()
        for name in answer.columns:
            table.column(name, "anywhere")
        for row in answer.texts():
            table.row(*["NULL" if value is None else value for value in row])
        Sheet(out, width=10_000).grid(table)


def refuse_repeated(columns: Sequence[str]) -> None:
    """Refuse JSON objects that would have a name twice.

    Raises:
        QueryRefused: several columns have one name.
    """
    repeated = sorted({name for name in columns if list(columns).count(name) > 1})
    if repeated:
        fault = (
            f"several columns are called {', '.join(repeated)}: give them names of their own (AS)"
        )
        raise QueryRefused("--format jsonl", fault)


Text: TypeAlias = "Callable[[Any], str]"


class Unprintable(Exception):
    """A value whose text Spark has to make: of a type, or of a year, that Python does not print in the same way."""


def of_arrow(rows: pa.Table) -> QueryAnswer:
    """The rows, whose texts are all made before the first is printed.

    Raises:
        Unprintable: there is a value that is not printed here.
    """
    as_texts = [*texts(rows)]
    binary = frozenset(at for at, one in enumerate(rows.schema) if pa.types.is_binary(one.type))
    return QueryAnswer(rows.column_names, lambda: iter(as_texts), lambda: json_lines(rows), binary)


def texts(rows: pa.Table) -> Iterator[list[str | None]]:
    """One list per row, of its values as texts: nested ones as JSON, binary as base64, timestamps ISO in UTC.

    Raises:
        Unprintable: there is a value that is not printed here.
    """
    columns = [_printed(column, _text_of(column.type)) for column in rows.columns]
    yield from map(list, zip(*columns, strict=True))


def json_lines(rows: pa.Table) -> Iterator[str]:
    """One JSON object per row: numbers exact, timestamps ISO in UTC, binary base64, nulls kept.

    Raises:
        Unprintable: there is a value that is not printed here.
        QueryRefused: several columns have one name.
    """
    refuse_repeated(rows.column_names)
    columns = [_printed(column, _json_of(column.type)) for column in rows.columns]
    names = [json.dumps(name, ensure_ascii=False) for name in rows.column_names]
    for row in zip(*columns, strict=True):
        parts = (
            f"{name}:{'null' if one is None else one}" for name, one in zip(names, row, strict=True)
        )
        yield f"{{{','.join(parts)}}}"


def _printed(column: pa.ChunkedArray, text: Text) -> list[str | None]:
    try:
        return [None if one is None else text(one) for one in column.to_pylist()]
    except (ValueError, OverflowError) as fault:
        raise Unprintable(str(fault)) from fault


def _text_of(kind: pa.DataType) -> Text:
    if pa.types.is_string(kind):
        return str
    if pa.types.is_boolean(kind):
        return lambda value: "true" if value else "false"
    if pa.types.is_integer(kind) or pa.types.is_date(kind):
        return str
    if pa.types.is_decimal(kind):
        return lambda value: f"{value:f}"
    if pa.types.is_floating(kind):
        return _floating(kind)
    if pa.types.is_binary(kind):
        return lambda value: b64encode(value).decode()
    if pa.types.is_timestamp(kind):
        zone = "" if kind.tz is None else "Z"
        return lambda value: (
            f"{value.replace(tzinfo=None).isoformat(timespec='microseconds')}{zone}"
        )
    return _json_of(kind)


def _json_of(kind: pa.DataType) -> Text:
    if pa.types.is_boolean(kind) or pa.types.is_integer(kind) or pa.types.is_decimal(kind):
        return _text_of(kind)
    if pa.types.is_floating(kind):
        text = _text_of(kind)
        return lambda value: _number(text(value))
    if pa.types.is_map(kind) and pa.types.is_string(kind.key_type):
        item = _json_of(kind.item_type)
        return lambda value: _object(
            (name, None if one is None else item(one)) for name, one in value
        )
    if pa.types.is_list(kind):
        part = _json_of(kind.value_type)
        return lambda value: f"[{','.join('null' if one is None else part(one) for one in value)}]"
    if pa.types.is_struct(kind):
        of_fields = {one.name: _json_of(one.type) for one in kind}
        return lambda value: _object(
            (name, None if value[name] is None else text(value[name]))
            for name, text in of_fields.items()
        )
    simple = (pa.types.is_string, pa.types.is_date, pa.types.is_binary, pa.types.is_timestamp)
    if any(is_one(kind) for is_one in simple):
        text = _text_of(kind)
        return lambda value: json.dumps(text(value), ensure_ascii=False)
    raise Unprintable(str(kind))


def _object(fields: Iterator[tuple[str, str | None]]) -> str:
    parts = (
        f"{json.dumps(name, ensure_ascii=False)}:{'null' if text is None else text}"
        for name, text in fields
    )
    return f"{{{','.join(parts)}}}"


def _floating(kind: pa.DataType) -> Text:
    judge = column_type("double" if kind == pa.float64() else "float").judge

    def text(value: float) -> str:
        found = judge(repr(value))
        assert found is not None  # it is such a number
        return found

    return text


def _number(text: str) -> str:
    """A floating number's text as JSON has it."""
    return f'"{text}"' if text in ("NaN", "Infinity", "-Infinity") else text


OWN: Final = frozenset({LOG_POSITION, EVENT_ID, EVENT_AT, RESET, KEY, COPY})
"""Columns that Weir adds to gold's tables. Those of a history, and of a graph's keys, say what a row is, and stay."""

DIGESTS: Final = frozenset({"event_id", "declaration", EVENT_ID, BEGAN_BY, ENDED_BY})
"""Columns of Weir's tables whose values are digests: their first letters tell them apart."""

_DIGEST: Final = re.compile(r"[0-9a-f]{64}")
_SHOWN: Final = 12


def shortened(answer: QueryAnswer, statement: exp.Expr) -> tuple[QueryAnswer, list[str]]:
    """The answer for a person, and the names of the columns that are left out of it.

    Weir's own columns of gold are left out where only a star asks for them; of tombstones they are what there is.
    """
    named = {column.name for column in statement.find_all(exp.Column)}
    asks_for_all = next(statement.find_all(exp.Star), None) is not None
    of_tombstones = any(name[-1].endswith(TOMBSTONES) for name in names_in(statement))
    own = OWN - named if asks_for_all and not of_tombstones else frozenset[str]()
    kept = [at for at, name in enumerate(answer.columns) if name not in own]

    def texts() -> Iterator[list[str | None]]:
        for row in answer.texts():
            yield [_short(row[at], answer.columns[at], at in answer.binary) for at in kept]

    columns = [answer.columns[at] for at in kept]
    # No text is base64 any more.
    short = replace(answer, columns=columns, texts=texts, binary=frozenset())
    return short, [name for name in answer.columns if name in own]


def notice_of(hidden: list[str]) -> str:
    """What a person reads of columns that are left out."""
    return (
        f"{counted(len(hidden), 'column')} of Weir's own left out ({', '.join(hidden)});"
        " --all-columns shows them"
    )


def _short(text: str | None, column: str, is_binary: bool) -> str | None:
    if text is None:
        return None
    if is_binary:
        return _readable(text)
    if column in DIGESTS and _DIGEST.fullmatch(text):
        return text[:_SHOWN]
    return text


def _readable(in_base64: str) -> str:
    """The text that the bytes are, if they are one; else their base64."""
    try:
        text = b64decode(in_base64).decode()
    except UnicodeDecodeError:
        return in_base64
    return text if all(one.isprintable() or one in "\n\t" for one in text) else in_base64
