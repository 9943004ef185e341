"""Why an event does not fit what the feed declares, or comes too late; and masks, whose values no fault quotes."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from transforms.column_types.encodings import spoken, suggested, too_long
from transforms.column_types.nested import Nested
from transforms.column_types.numbers import BASE64
from transforms.column_types.operations import fitting
from transforms.column_types.parts import misfit_in
from transforms.column_types.ranges import side_of
from transforms.compaction_watermarks import CompactionWatermark
from transforms.display import yaml_scalar
from transforms.event import Event, Image, Value
from transforms.fault import Fault, shown
from transforms.feed.masks import Masks
from transforms.feed.schema_policies import DROP_COLUMN
from transforms.near_names import but_for_case
from transforms.silver.changes import Key
from transforms.silver.declarations import Declaration

TOO_LATE: Final = "too_late"
"""Reason of this fault. It needs no decision by a person, so that it does not hold compaction back."""


def is_covered(
    compaction_watermark: CompactionWatermark | None, log_position: Sequence[int], dedup_prefix: int
) -> bool:
    """True for a change at or below the watermark; only what is the same in every delivery of it is compared."""
    if compaction_watermark is None:
        return False
    return tuple(log_position[:dedup_prefix]) <= compaction_watermark.log_position[:dedup_prefix]


def too_late_fault(table: str | None, log_position: Sequence[int]) -> Fault:
    """Why a change at or below the compaction watermark cannot be taken that the base does not have."""
    position = "/".join(map(str, log_position))
    return Fault(
        TOO_LATE,
        f"the history of {table} is compacted beyond its position {position}, and no such event was known when that was"
        " done",
    )


# Masks: images are masked before anything is made of them, and no fault quotes what they hide.


_QUOTE_NOTHING: Final = frozenset(
    {
        *("column_twice", "damaged_record", "invalid_utf8", "malformed_csv", "missing_cursor"),
        *("missing_field", "missing_image", "no_envelope", "no_schema", "undeclared_table"),
        *("part_of_a_value", "unknown_position"),
        "wrong_column_count",
    }
)
"""The reasons of formats whose details name fields, columns, places and numbers, and quote no value of a column."""

WITHHELD: Final = "what was found is not shown, because the feed masks columns; `weir quarantine show` has the record"
"""The detail of a fault that might quote a masked value."""


def mask_event(event: Event, masks: Masks) -> None:
    """Put masked values in the place of an event's own, in every image; an operation on a masked value is gone, too."""
    event.before, event.after = masks.masked(event.before), masks.masked(event.after)
    if event.scope is not None:
        event.scope = masks.masked(event.scope)
    if event.attribute_ops:
        event.attribute_ops = {
            name: one for name, one in event.attribute_ops.items() if not masks.is_masked(name)
        }


def withhold_values(event: Event) -> None:
    """Take out of an event's fault what might quote a value, in a feed that masks columns.

    A record that cannot be read may have its values anywhere: under the wrong column, or in the name of an operation.
    """
    if event.fault is not None and event.fault.reason not in _QUOTE_NOTHING:
        event.fault = Fault(event.fault.reason, WITHHELD)


# Why an event does not fit what the feed declares.


MISSING_KEY: Final = "missing_key"


def misfits(values: Image, declaration: Declaration) -> Fault:
    """Values that go into gold or into the key, and that their columns' types cannot hold: all of the event's.

    Where they look like counts of time or decimals in base64, the detail ends in the line that says so in a feed file.
    """
    found = [_misfit(name, value, declaration) for name, value in values.items()]
    told = [
        f"{'' if one.path == name else _in_column(name, values[name], declaration)}"
        f"{one.path} is {_seen(one.value)}, which is no {one.in_words}"
        f"{_too_long(one.kind, one.encoding, one.value)}"
        for name, one in zip(values, found, strict=True)
    ]
    more = f"{_BETWEEN}{len(told) - _TOLD:,} more" if len(told) > _TOLD else ""
    ways = {
        one.path: way
        for one in found
        if declaration.is_declared
        and one.encoding is None
        and (way := suggested(one.kind, one.value)) is not None
    }
    beyond = [one.path for one in found if side_of(one.value, one.kind, one.encoding) is not None]
    remedy = _way_out(ways) or _way_of_range(beyond, declaration)
    return Fault(MISFIT, _BETWEEN.join(told[:_TOLD]) + more + remedy)


class _Unfit(NamedTuple):
    """A value, or the first one in it, that its type cannot hold; ``path``: the column, or the part of it."""

    path: str
    value: Value
    kind: str
    encoding: str | None

    @property
    def in_words(self) -> str:
        return self.kind if self.encoding is None else f"{self.kind} in {self.encoding}"


def _misfit(name: str, value: Value, declaration: Declaration) -> _Unfit:
    kind = declaration.kind_of(name)
    if not isinstance(kind, Nested) or not isinstance(value, str):
        return _Unfit(name, value, kind.name, declaration.encodings.get(name))
    found = misfit_in(name, kind, value)
    encodings = dict(declaration.parts[name].encodings) if name in declaration.parts else {}
    return _Unfit(found.path, found.value, found.kind.name, encodings.get(found.path))


def _in_column(name: str, value: Value, declaration: Declaration) -> str:
    return f"{name} is {_seen(value)}, which is no {declaration.kind_of(name).name}: "


def _way_out(ways: Mapping[str, str]) -> str:
    """The line that a feed file lacks, if these columns are written so; empty where there are none."""
    if not ways:
        return ""
    line = ", ".join(f"{yaml_scalar(name, in_brackets=True)}: {way}" for name, way in ways.items())
    seen = {"base64" if way == BASE64 else f"{spoken(way)} since 1970" for way in ways.values()}
    return (
        f". If that is {' and '.join(sorted(seen))}, as Debezium sends by default without a schema, add a line to the"
        f" table in the feed file: encoded: {{{line}}}"
    )


def _way_of_range(columns: Sequence[str], declaration: Declaration) -> str:
    """What a feed file may say of dates and times that no column can hold; empty where there are none."""
    if not columns:
        return ""
    line = "out_of_range: null"
    of_feed = f"give the feed file the line {line}"
    if declaration.is_declared:
        of_columns = ", ".join(f"{yaml_scalar(name)}: null" for name in columns)
        of_feed = f"give the table in the feed file the line out_of_range: {{{of_columns}}}"
    return (
        f". Dates and times have the years 1 to 9999: {of_feed} (or clamp, the first or last that there is), or declare"
        " the column as string"
    )


def _too_long(kind: str, encoding: str | None, value: Value) -> str:
    """What a value that nobody can read is as a number, where that has too many digits."""
    if encoding is None or value is None:
        return ""
    number = too_long(kind, encoding, value)
    return "" if number is None else f": it is {shown(number)}, which has too many digits"


def _seen(value: Value) -> str:
    return f"{len(value)} bytes" if isinstance(value, bytes) else shown(value)


MISFIT: Final = "value_does_not_fit"
_TOLD: Final = 20
"""Maximum number of an event's values that are told."""
_BETWEEN: Final = "; "
_ONE_MISFIT: Final = re.compile(
    r"(?:^|; )(?P<column>\S.*?) is (?P<value>.*?), which is no (?P<kind>[^;]*?)(?=: |; |\. |$)",
    re.DOTALL,
)


class Misfit(NamedTuple):
    """A value of an event that its column cannot hold, as the fault shows it."""

    column: str
    value: str
    kind: str


def misfits_told(detail: str) -> list[Misfit]:
    """Read for a summary what ``misfits`` has told of an event."""
    return [Misfit(*found.groups()) for found in _ONE_MISFIT.finditer(detail)]


def key_fault(event: Event, declaration: Declaration, key: Key | None) -> Fault | None:
    """A change of one row whose key has a part that is null, or that no image mentions."""
    columns = declaration.key_columns
    if columns is None or key is None:
        return None
    if not declaration.is_keyless:
        if None not in key:
            return None
        missing = [name for name, part in zip(columns, key, strict=True) if part is None]
        detail = f"key column {', '.join(missing)} is absent or null"
        if others := but_for_case({*event.before, *event.after}, missing):
            detail += f"; it has {', '.join(others)}, in other letters, which `renamed` in the feed file can say"
        elif event.effect == "remove" and not event.before and not event.after:
            detail += (
                "; the delete names no row, as with REPLICA IDENTITY NOTHING: set DEFAULT or FULL on the table (of"
                " YugabyteDB it holds from a new replication slot on), and take a new snapshot"
            )
        return Fault(MISSING_KEY, detail)
    needs_before = event.effect in ("remove", "update") or (
        event.operation == "replace" and event.before
    )
    lacking = [name for name in columns if name not in event.before] if needs_before else []
    if not lacking:
        return None
    return Fault(
        "incomplete_image",
        f"the table has no key, so the old image must name the whole row, and it lacks {', '.join(lacking)}",
    )


def scope_fault(scope: Image, declaration: Declaration) -> Fault | None:
    """A scope that names what is no key column of the table."""
    if declaration.key_columns is None:
        return None
    strange = [name for name in scope if name not in declaration.key_columns]
    if not strange:
        return None
    return Fault("unknown_scope", f"{', '.join(strange)} is no part of the table's key")


def operation_fault(operations: Mapping[str, str], declaration: Declaration) -> Fault | None:
    """The first attribute operation that its column's declared type cannot take."""
    for name, operation in operations.items():
        kind = (declaration.column_types or {}).get(name)
        if kind is not None and operation not in fitting(kind):
            return Fault("operation_does_not_fit", f"{operation} of {name}, which is a {kind}")
    return None


def is_column_drop(event: Event) -> bool:
    """True for the source's own drop of a column."""
    return event.scope is not None and event.operation == DROP_COLUMN


def undeclared_columns(event: Event, declaration: Declaration) -> tuple[str, ...]:
    """The columns that a change of a table mentions and its declaration does not.

    A drop of a column that is not declared mentions none.
    """
    known = declaration.column_types
    if known is None or event.after.keys() <= known.keys() or is_column_drop(event):
        return ()
    return tuple(name for name in event.after if name not in known)


def column_fault(undeclared: tuple[str, ...]) -> Fault:
    """A change that mentions undeclared columns, where the feed says that such changes are not to be taken."""
    return Fault(
        "undeclared_column",
        f"{', '.join(undeclared)} is not declared, and the feed file says add_column: quarantine",
    )
