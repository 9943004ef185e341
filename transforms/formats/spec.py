"""What a source format says about itself, and the event row that it must produce.

An event is one operation of the source as a record tells it, before the feed's declarations are applied: no key, no
types, no judgement of repeats. ``silver`` does those for every format alike.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from transforms.feed import Feed
from transforms.record import Record

EVENT_COLUMNS = (
    "window",
    "object",
    "generation",
    "line",
    "byte_offset",
    "payload",
    "catalog",
    "schema",
    "name",
    "operation",
    "effect",
    "before",
    "after",
    "position",
    "identity",
    "settled",
    "segment",
    "event_at",
    "extracted_at",
    "flags_disagree",
    "fault",
)
"""One row per source event.

``catalog``, ``schema``, ``name``: the table as the stream or the object's path names it.
``operation``, ``effect``, ``before``, ``after``, ``position``, ``event_at``, ``extracted_at``: as in ``change.CHANGE``.
``identity``: array of texts that, with table, operation and images, make two deliveries the same event.
``settled``: how many leading numbers of the position are the same in every delivery of the event.
``segment``: the number of the log file that the event stands in, null where the source has none: within a source's life
it rises with time.
``flags_disagree``: true where the exists flags can be read but are not those that the operation should have.
``fault``: null, or a struct of ``reason`` and ``detail``: why the event cannot become a change.
"""


@dataclass(frozen=True, slots=True)
class SourceFormat:
    """One source format: facts and plain functions.

    ``files`` are the globs of its usual objects. ``split`` cuts the bytes of one object into records.
    ``to_events`` takes bronze rows with ``object_table`` (the declared table, or the name, that the object's path
    says) and gives one row of ``EVENT_COLUMNS`` per source event.
    """

    name: str
    files: tuple[str, ...]
    split: Callable[[bytes, Feed, str], Iterator[Record]]
    to_events: Callable[[DataFrame, Feed], DataFrame]


def fault(reason: str, *detail: Column | str) -> Column:
    """A fault struct: a word for the kind, and a sentence made of texts and columns, long values cut short."""
    parts = [
        F.lit(part) if isinstance(part, str) else shown(part.cast("string")) for part in detail
    ]
    return F.struct(F.lit(reason).alias("reason"), F.concat(*parts).alias("detail"))


def shown(text: Column) -> Column:
    """A value as a sentence shows it; the whole of it stands in the record."""
    size = F.char_length(text)
    short = F.concat(
        F.substring(text, 1, 300), F.lit(" ... ("), size.cast("string"), F.lit(" characters)")
    )
    return F.coalesce(F.when(size > 320, short).otherwise(text), F.lit("null"))


def spelled(text: Column) -> Column:
    """A text in quotes, so that an empty one can be told from none."""
    return F.concat(F.lit("'"), text, F.lit("'"))


NO_FAULT = "struct<reason:string,detail:string>"
"""The type of ``fault``, for frames that have none."""
