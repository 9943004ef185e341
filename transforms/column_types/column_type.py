"""A column type: how its values are read, compared and stored. A type that differs from the default is a subclass."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

Judge: TypeAlias = Callable[[str | bytes], str | None]
"""The canonical text of a value, or None where the value does not fit the type without losing anything.

It is one text for all ways to write a value: ``010`` and ``10`` are one int, ``1.5`` and ``1.50`` one decimal.
"""


class UnknownType(ValueError):
    """A text is no type; the message says why, without naming the key."""


class Unfit(Exception):
    """A part of a document is no value of its type."""


@dataclass(frozen=True, slots=True, eq=False)
class ColumnType:
    """One type that a column can have.

    Images in silver hold canonical texts, keys are compared by them, and gold's columns are made of them alone. They
    are what Spark's cast to ``string`` writes, and what its ANSI cast reads; every judge gives its own canonical text
    back as it is, except that of ``binary``. Within arrays, sets, maps and structs a value stands as JSON: as its
    canonical text in quotes, where the type's class says nothing else.

    Args:
        name: The type in feed files, in lower case and without blanks.
        arrow: The Arrow type of its values.
        judge: Whether a text (or its UTF-8 bytes) fits the type, and its canonical text.
        aliases: Other names that a feed file may write.
        stored_as: The Spark SQL type of its columns, where that has another name.
        value: From a canonical text to what Arrow takes as the value.
        text: From what Arrow gives as the value to a text that the judge reads.
        arrow_reads: Whether Arrow's own cast of canonical texts gives the same values.
        arrow_writes: Whether Arrow's own cast to texts gives the canonical ones.
        exact: The names of types of which this one holds every value, besides those that its class knows.
        encodings: In which other ways a feed file may say that its values are written (see ``encodings``).
        connect: The types of Kafka Connect's schemas whose values are of this type, if no logical name says more.
        plain: A regular expression of texts that the judge gives back as they are: what most sources write.
    """

    name: str
    arrow: pa.DataType
    judge: Judge
    aliases: tuple[str, ...] = ()
    stored_as: str = ""
    value: Callable[[str], Any] = str
    text: Callable[[Any], str | bytes] = str
    arrow_reads: bool = False
    arrow_writes: bool = False
    exact: tuple[str, ...] = ()
    encodings: tuple[str, ...] = ()
    connect: tuple[str, ...] = ()
    plain: str = ""

    @property
    def spark(self) -> str:
        """The Spark SQL type of its columns."""
        return self.stored_as or self.name

    @property
    def spark_json(self) -> str:
        """The type as which Spark's ``from_json`` reads it: the keys of an object are texts to that."""
        return self.spark

    @property
    def key_judge(self) -> Judge:
        """The judge of the keys of a map."""
        return self.judge

    @property
    def has_order(self) -> bool:
        """Whether a set may hold it."""
        return True

    @property
    def is_respelled(self) -> bool:
        """Whether Spark may write a value in another text than the canonical one."""
        return False

    def holds(self, other: ColumnType) -> bool:
        """Whether each value of the other type is one of this type."""
        return other.name in self.exact

    def canonical(self, value: Any) -> str:
        """The canonical text of what Arrow gives as a value."""
        return judged(self.text(value), self.judge)

    def json_text(self, part: Any) -> str:
        """What the JSON of a value reads as when it is written canonically.

        Raises:
            Unfit: it is no value of the type.
        """
        return f'"{judged(words(part), self.judge)}"'

    def from_json(self, part: Any) -> Any:
        """From the canonical JSON of a value to what Arrow takes."""
        return self.value(str(part))

    def to_json(self, value: Any) -> Any:
        """From what Arrow gives to JSON that ``json_text`` reads."""
        return self.canonical(value)

    def order(self, part: Any) -> Any:
        """By what the elements of a set are sorted, from their canonical JSON."""
        return part

    def are_plain(self, texts: Iterable[str]) -> bool:
        """Whether it shows at once that the judge gives each of these texts back as it is."""
        return bool(self.plain) and None not in map(re.compile(self.plain).fullmatch, texts)

    def typed(self, texts: Sequence[str | None]) -> pa.Array:
        """The values of canonical texts.

        Raises:
            ValueError: A text is not a canonical text of this type.
        """
        value = self.value
        return pa.array([None if one is None else value(one) for one in texts], self.arrow)

    def typed_array(self, texts: pa.Array) -> pa.Array:
        """``typed`` of an array of texts, by Arrow's own cast where that reads them as the same values."""
        return pc.cast(texts, self.arrow) if self.arrow_reads else self.typed(texts.to_pylist())

    def text_array(self, values: pa.Array | pa.ChunkedArray) -> pa.Array:
        """The canonical texts of values, as an array."""
        if not self.arrow_writes:
            return pa.array(self.texts(values), pa.string())
        texts = values.cast(pa.string())
        return texts.combine_chunks() if isinstance(texts, pa.ChunkedArray) else texts

    def texts(self, values: pa.Array | pa.ChunkedArray) -> list[str | None]:
        """The canonical texts of values."""
        if self.arrow_writes:
            return values.cast(pa.string()).to_pylist()  # type: ignore[no-any-return]
        if pa.types.is_timestamp(values.type):
            values = pc.cast(values, pa.timestamp("us", values.type.tz))
        canonical = self.canonical
        return [None if one is None else canonical(one) for one in values.to_pylist()]


def judged(value: str | bytes | None, judge: Judge) -> str:
    """The canonical text of a value.

    Raises:
        Unfit: It does not fit.
    """
    found = None if value is None else judge(value)
    if found is None:
        raise Unfit
    return found


def words(part: Any) -> str | None:
    """A JSON text; None for everything else."""
    return part if type(part) is str else None
