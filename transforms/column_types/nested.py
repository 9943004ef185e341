"""The types that hold others, as JSON: arrays, sets, maps and structs.

The canonical text is what Spark's ``to_json`` writes of the value, with the null fields of a struct. What a type holds
is judged as a value of that type is elsewhere, and must be the JSON of it: a number for a number, true or false for a
boolean, a text for a day, a moment or bytes (in base64). So nothing is rounded, cut to milliseconds or wrapped around,
as Spark's ``from_json`` does without a word.

- A set is an array in its elements' order, nulls last, without repeats.
- The keys of a map are texts; two that say the same value are a fault, and their order is kept.
- In a set and as a key there is one floating zero, without a sign.
- Fields that a struct does not declare are left out, and those that it has not are null.
- In place of a text anything may stand, and is its JSON; numbers keep their digits.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from transforms import json_values
from transforms.column_types.column_type import ColumnType, Judge, Unfit, UnknownType, judged
from transforms.column_types.texts import quoted
from transforms.column_types.times import Timestamp


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Nested(ColumnType):
    """What holds values of other types."""

    judge: Judge = field(init=False)
    value: Callable[[str], Any] = field(init=False)

    def __post_init__(self) -> None:
        """A canonical text is the JSON of the value."""
        object.__setattr__(self, "judge", self._judged)
        object.__setattr__(self, "value", lambda text: self.from_json(json_values.read(text)))

    def _judged(self, value: str | bytes) -> str | None:
        try:
            document = json_values.read(value)
            return None if document is None else self.json_text(document)
        except (json_values.MalformedJson, Unfit, RecursionError):
            return None

    @property
    def parts(self) -> tuple[ColumnType, ...]:
        """The types that it holds."""
        raise NotImplementedError

    @property
    def has_order(self) -> bool:
        """Maps have none."""
        return all(one.has_order for one in self.parts)

    @property
    def is_respelled(self) -> bool:
        """Spark writes times within other values with all six digits of their microseconds."""
        return any(one.is_respelled or isinstance(one, Timestamp) for one in self.parts)

    def canonical(self, value: Any) -> str:
        """The canonical text of what Arrow gives as a value."""
        return judged(json_values.written(self.to_json(value)), self.judge)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Array(Nested):
    """Values in an order; or, if it ``is_set``, without order and repeats."""

    element: ColumnType
    is_set: bool

    @property
    def parts(self) -> tuple[ColumnType, ...]:
        """The type of the elements."""
        return (self.element,)

    @property
    def spark_json(self) -> str:
        """An array."""
        return f"array<{self.element.spark_json}>"

    def holds(self, other: ColumnType) -> bool:
        """As its elements do."""
        if not isinstance(other, Array) or self.is_set != other.is_set:
            return False
        return self.element.name == other.element.name or self.element.holds(other.element)

    def json_text(self, part: Any) -> str:
        """A list."""
        if type(part) is not list:
            raise Unfit
        spelled = self.element.json_text
        if not self.is_set:
            return f"[{','.join(['null' if one is None else spelled(one) for one in part])}]"
        texts = {"null" if one is None else spelled(one) for one in part}
        nulls = ["null"] if "null" in texts else []
        texts.discard("null")
        if "-0.0" in texts:
            texts = texts - {"-0.0"} | {"0.0"}
        order = self.element.order
        ordered = sorted(texts, key=lambda text: order(json_values.read(text)))
        return f"[{','.join([*ordered, *nulls])}]"

    def from_json(self, part: Any) -> Any:
        """A list of the elements' values."""
        return _all(part, self.element.from_json)

    def to_json(self, value: Any) -> Any:
        """A list of the elements in JSON."""
        return _all(value, self.element.to_json)

    def order(self, part: Any) -> Any:
        """Element by element; null comes before every value."""
        return [_or_null(one, self.element.order) for one in part]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Map(Nested):
    """Values by keys of a simple type."""

    key: ColumnType
    item: ColumnType

    @property
    def parts(self) -> tuple[ColumnType, ...]:
        """The types of keys and values."""
        return (self.key, self.item)

    @property
    def spark_json(self) -> str:
        """A map with texts as keys."""
        return f"map<string,{self.item.spark_json}>"

    @property
    def has_order(self) -> bool:
        """It has none."""
        return False

    def json_text(self, part: Any) -> str:
        """An object."""
        if type(part) is not dict:
            raise Unfit
        judge, spelled = self.key.key_judge, self.item.json_text
        found: dict[str, str] = {}
        for name, one in part.items():
            text = judge(name)
            if text is None or text in found:
                raise Unfit
            found[text] = "null" if one is None else spelled(one)
        return _object([f"{quoted(name)}:{text}" for name, text in found.items()])

    def from_json(self, part: Any) -> Any:
        """Pairs of keys and values."""
        key, item = self.key.value, self.item.from_json
        return [(key(name), None if one is None else item(one)) for name, one in part.items()]

    def to_json(self, value: Any) -> Any:
        """An object; its names are the keys' canonical texts."""
        key, item = self.key.canonical, self.item.to_json
        return {key(name): None if one is None else item(one) for name, one in value}


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Struct(Nested):
    """A value for each of some fields; their names stand without backticks."""

    fields: Mapping[str, ColumnType]
    labels: tuple[str, ...]

    @property
    def parts(self) -> tuple[ColumnType, ...]:
        """The types of the fields."""
        return tuple(self.fields.values())

    @property
    def spark_json(self) -> str:
        """A struct."""
        named = [(name.replace("`", "``"), kind.spark_json) for name, kind in self.fields.items()]
        return f"struct<{','.join(f'`{name}`:{kind}' for name, kind in named)}>"

    def json_text(self, part: Any) -> str:
        """An object."""
        if type(part) is not dict:
            raise Unfit
        return _object(
            [
                label + ("null" if (one := part.get(name)) is None else kind.json_text(one))
                for label, (name, kind) in zip(self.labels, self.fields.items(), strict=True)
            ]
        )

    def from_json(self, part: Any) -> Any:
        """The fields' values by name."""
        return {name: _or_none(part[name], kind.from_json) for name, kind in self.fields.items()}

    def to_json(self, value: Any) -> Any:
        """An object of the fields in JSON."""
        return {name: _or_none(value[name], kind.to_json) for name, kind in self.fields.items()}

    def order(self, part: Any) -> Any:
        """Field by field; null comes before every value."""
        return [_or_null(part[name], kind.order) for name, kind in self.fields.items()]


def array_of(element: ColumnType, *, is_set: bool = False) -> Array:
    """The type of arrays, or sets, of this type.

    Raises:
        UnknownType: a set cannot hold maps.
    """
    if is_set and not element.has_order:
        raise UnknownType(
            f"'set<{element.name}>': maps have no order, so that no set can hold them"
        )
    return Array(
        f"{'set' if is_set else 'array'}<{element.name}>",
        pa.list_(pa.field("element", element.arrow)),
        stored_as=f"array<{element.spark}>",
        element=element,
        is_set=is_set,
    )


def map_of(key: ColumnType, item: ColumnType) -> Map:
    """The type of maps from one type to another.

    Raises:
        UnknownType: the keys are not of a simple type.
    """
    name = f"map<{key.name},{item.name}>"
    if isinstance(key, Nested):
        raise UnknownType(f"{name!r}: the keys of a map must be of a simple type")
    arrow = pa.map_(key.arrow, item.arrow)
    return Map(name, arrow, stored_as=f"map<{key.spark},{item.spark}>", key=key, item=item)


def struct_of(named: Mapping[str, ColumnType]) -> Struct:
    """The type of structs with these fields; a name may stand in backticks."""
    bare = {
        name[1:-1].replace("``", "`") if name[:1] == "`" else name: kind
        for name, kind in named.items()
    }
    return Struct(
        f"struct<{','.join(f'{name}:{kind.name}' for name, kind in named.items())}>",
        pa.struct([pa.field(name, kind.arrow) for name, kind in bare.items()]),
        stored_as=f"struct<{','.join(f'{name}:{kind.spark}' for name, kind in named.items())}>",
        fields=bare,
        labels=tuple(f"{quoted(name)}:" for name in bare),
    )


def _or_none(part: Any, value: Callable[[Any], Any]) -> Any:
    return None if part is None else value(part)


def _all(parts: Sequence[Any], value: Callable[[Any], Any]) -> list[Any]:
    return [None if one is None else value(one) for one in parts]


def _or_null(part: Any, order: Callable[[Any], Any]) -> tuple[bool, Any]:
    return (part is not None, None if part is None else order(part))


def _object(parts: Sequence[str]) -> str:
    return f"{{{','.join(parts)}}}"
