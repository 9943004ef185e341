"""An event: one operation of the source, as a record tells it, before the feed's declarations are applied.

It is what every format's ``decode`` gives. It has no key, no types and no judgement of repeats: ``silver`` does those
for every format alike. Not here: how a format gets there (``formats``), and what a change is (``change``).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

from transforms.fault import Fault

Value: TypeAlias = "str | bytes | None"
"""A column's value as the source wrote it: text, bytes for binary data, None for null."""

Image: TypeAlias = Mapping[str, Value]
"""Column name to value. A name that is missing was not mentioned (absent), which is not null."""


class Transaction(NamedTuple):
    """Which transaction an event is part of (docs/change_model.md).

    ``expected`` is how many events it has, told only by its commit. ``has_begin``: whether such transactions have an
    event that begins them. ``at_commit``: whether its changes stand where its commit does, and not at their own place.
    """

    id: str
    expected: int | None = None
    has_begin: bool = True
    at_commit: bool = False


class StreamSchema(NamedTuple):
    """A table as its stream describes it: gold needs it only for tables that the feed file does not declare.

    ``key``: the names of the key's columns, none where the table has no key; None where the event does not tell it.
    ``columns``: each column's name and its Spark SQL type, None where the event does not tell it. ``encoded``:
    those of them whose values only this description can read: without it, nobody knows what a number stands for.
    """

    key: tuple[str, ...] | None
    columns: tuple[tuple[str, str | None], ...]
    encoded: tuple[str, ...] = ()


@dataclass(slots=True, kw_only=True)
class Event:
    """One operation of the source.

    ``catalog``, ``schema``, ``name``: the table as the stream or the object's path names it.
    ``operation``: what the source did (insert, update, delete, replace, read, truncate and so on); ``effect``: what it
    does to the current row (``change.py`` lists both).
    ``before``, ``after``: the images; ``attribute_ops``: what is done to columns in ``after`` that are not plainly
    overwritten, by column. ``scope``: of a scoped change, the key columns' values that it is for (empty: the whole
    table); None for a change of one row.
    ``stream``: the part of the source within which positions compare. ``transaction``: see ``Transaction``.
    ``derived``: None for what the source sent; else why the event follows from another one of its record.
    ``position``: epoch, phase (0 snapshot, 1 stream), then the format's own numbers, compared one by one; a number that
    the record should tell and does not is None. ``stable_prefix``: how many of its leading numbers are the same in
    every delivery of the event.
    ``identity``: texts that, with table, operation and images, make two deliveries the same event.
    ``segment``: the number of the log file that the event stands in, where the source has such.
    ``event_at``, ``extracted_at``: when the source made the change, and when the extractor read it, in microseconds
    since 1970 (UTC).
    ``stream_schema``: what the stream itself says of the table. ``warnings``: words for what is worth knowing of an
    event that is taken all the same (``formats/spec.py``).
    ``fault``: why the event cannot become a change; the other fields then say what could be read nevertheless.
    """

    operation: str | None
    effect: str
    name: str | None
    schema: str | None = None
    catalog: str | None = None
    before: Image = field(default_factory=dict)
    after: Image = field(default_factory=dict)
    attribute_ops: Mapping[str, str] = field(default_factory=dict)
    scope: Image | None = None
    stream: str | None = None
    transaction: Transaction | None = None
    derived: str | None = None
    position: tuple[int | None, ...] | None = None
    stable_prefix: int = 0
    identity: tuple[str | None, ...] = ()
    segment: int | None = None
    event_at: int | None = None
    extracted_at: int | None = None
    stream_schema: StreamSchema | None = None
    warnings: tuple[str, ...] = ()
    fault: Fault | None = None


class Pending(NamedTuple):
    """What a record says where its neighbours decide what it means: the format's ``resolve`` makes it an event.

    ``group``: numbers and texts of what belongs together, within one landing window; ``order``: where it stands in its
    group; ``said``: whatever the format needs of it, in plain values that can be pickled.
    """

    group: tuple[str | int | None, ...]
    order: tuple[int, ...]
    said: object
