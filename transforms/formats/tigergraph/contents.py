"""The attributes that a message mentions: their values, what is done to them, and what is wrong with them.

Put here what is said of attributes. Not here: how a value becomes a text (``texts``), and values and operations that
the declared types cannot take (``silver``).

Vendor: TigerGraph documentation, "CDC Message Examples", content field.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Any, Final, NamedTuple

from transforms.event import Value
from transforms.fault import Fault, shown
from transforms.formats.tigergraph.tables import OWN_COLUMNS
from transforms.formats.tigergraph.texts.attribute_texts import Spell, minus_speller, speller
from transforms.json_values import as_text, written

OVERWRITE: Final = "Overwrite"
IF_NEW: Final = "IgnoreIfExisted"
MINUS: Final = "Minus"
OPERATIONS: Final = frozenset(
    (OVERWRITE, "Add", "Max", "Min", "And", "Or", IF_NEW, MINUS, "ReplaceOrAdd")
)

UNSIGNED: Final = "decimal(20,0)"
"""The declared type of an unsigned number: it has 64 bits, and no type of Spark's is one."""
_LARGEST_UNSIGNED: Final = 2**64 - 1
_NUMBER: Final = re.compile(r"\s*[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,6})?\s*")

_OF_CONTENT: Final = "content_"
"""What stands before the name of an attribute that is called like one of gold's own columns."""


class Attribute(NamedTuple):
    """How the values of a declared attribute are spelled; ``minus``: those that are taken away."""

    spell: Spell
    minus: Spell
    is_unsigned: bool


class Mentions(NamedTuple):
    """``values``: the attributes with their texts; ``operations``: those that are not plainly overwritten."""

    values: dict[str, Value]
    operations: dict[str, str]


def attribute(type_name: str) -> Attribute:
    """What there is to know of an attribute of this type."""
    return Attribute(speller(type_name), minus_speller(type_name), type_name == UNSIGNED)


_UNDECLARED: Final = Attribute(as_text, as_text, is_unsigned=False)


def mentions(content: Any, declared: Mapping[str, Attribute]) -> Mentions | Fault:
    """What a message's content mentions; a fault where it says something that cannot be taken."""
    values: dict[str, Value] = {}
    operations: dict[str, str] = {}
    if content is None:
        return Mentions(values, operations)
    if type(content) is not dict:
        return _MALFORMED
    bare = strange = beyond = None
    for given, one in content.items():
        name, kind = given, declared.get(given)
        if kind is None and given.lower() in OWN_COLUMNS:
            name = _OF_CONTENT + given
            if name in content:
                return _MALFORMED
        op = one.get("op") if type(one) is dict else None
        if op is None or "value" not in one:
            bare = bare or name
            continue
        if type(op) is not str:
            op = written(op)
        if kind is None:
            kind = declared.get(name, _UNDECLARED)
        values[name] = kind.minus(one["value"]) if op == MINUS else kind.spell(one["value"])
        if op != OVERWRITE:
            operations[name] = op
            if op not in OPERATIONS:
                strange = strange or name
        if kind.is_unsigned and _is_beyond_unsigned(values[name]):
            beyond = beyond or name
    if bare is None and strange is None and beyond is None:
        return Mentions(values, operations)
    return _fault(bare, strange, beyond, Mentions(values, operations))


_MALFORMED: Final = Fault(
    "malformed_content",
    "content is no JSON object of attributes, or two of them have one name in gold",
)


def _fault(bare: str | None, strange: str | None, beyond: str | None, found: Mentions) -> Fault:
    """The first fault: an attribute without operation or value, one with an unknown one, one beyond 64 bits."""
    if bare is not None:
        return Fault("missing_field", f"attribute {shown(bare)} lacks its op or its value")
    if strange is not None:
        op = shown(found.operations[strange])
        return Fault("unknown_operation", f"op {op} of attribute {shown(strange)} is not known")
    assert beyond is not None
    text = shown(found.values[beyond])
    return Fault(
        "value_does_not_fit",
        f"{shown(beyond)} is {text}, which no unsigned number of 64 bits is",
    )


def _is_beyond_unsigned(text: Value) -> bool:
    """True for a number that no unsigned number of 64 bits is; never for what is no number."""
    if (
        not isinstance(text, str)
        or (len(text) < 20 and text.isdecimal())
        or not _NUMBER.fullmatch(text)
    ):
        return False
    return not -1 < Decimal(text) < _LARGEST_UNSIGNED + 1
