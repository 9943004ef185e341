"""Attribute values: from TigerGraph's JSON to the texts that the declared Spark types read.

In containers a DATETIME is a number of seconds and a BOOL 0 or 1. A map is an object, or (4.1.1 and later) two lists;
a tuple is one text (``i: 2, s: m2``), or (announced for 4.2) two lists as well. Not here: whether a value fits its
type (``silver``).

Vendor: TigerGraph documentation, "CDC Message Examples"; "Attribute Data Types".
"""

from __future__ import annotations

import json
import re
from typing import Final

from pyspark.sql import Column
from pyspark.sql import functions as F

from transforms import typed_columns as types

LARGEST_UNSIGNED: Final = 2**64 - 1

_NUMBER = r"^-?\d+(\.\d+)?([eE][+-]?\d+)?$"
_NUMERIC = ("tinyint", "smallint", "int", "bigint", "float", "double", "decimal")


def text_of(value: Column, type_name: str) -> Column:
    """The text of a variant in the declared type; null for null."""
    inner, pair = types.element(type_name), types.entries(type_name)
    if inner is not None:
        items = value.try_cast("array<variant>")
        parts = F.transform(items, lambda one: _json(_of_one(one, inner), inner))
        whole = F.concat(F.lit("["), F.array_join(parts, ","), F.lit("]"))
        return F.coalesce(whole, untyped(value))
    if pair is not None:
        entries = F.transform(
            _entries(value),
            lambda one: F.concat(
                _quoted(of_text(one["key"], pair[0])),
                F.lit(":"),
                _json(_of_one(one["value"], pair[1]), pair[1]),
            ),
        )
        whole = F.concat(F.lit("{"), F.array_join(entries, ","), F.lit("}"))
        return F.coalesce(whole, untyped(value))
    return _of_one(value, type_name)


def untyped(value: Column) -> Column:
    """The text of a value of which no type is known."""
    return value.try_cast("string")


def keys_alone(value: Column, type_name: str) -> Column:
    """The text of a map of which only the keys are given, as what is to be removed may be; null for all others."""
    pair = types.entries(type_name)
    if pair is None:
        return F.lit(None).cast("string")
    listed, _ = _lists(value)
    keys = F.coalesce(value.try_cast("array<variant>"), F.when(_size(value) == 1, listed))
    entries = F.transform(
        keys, lambda key: F.concat(_quoted(of_text(untyped(key), pair[0])), F.lit(":null"))
    )
    return F.concat(F.lit("{"), F.array_join(entries, ","), F.lit("}"))


def _of_one(value: Column, type_name: str) -> Column:
    if fields := types.fields(type_name):
        # What does not have these fields is no tuple, though it may be a JSON object.
        raw = untyped(value)
        other = F.when(raw.startswith("{"), _quoted(raw)).otherwise(raw)
        return F.coalesce(_of_fields(value, fields), other)
    if type_name == "string":
        return F.coalesce(_of_tuple(value), untyped(value))
    return of_text(untyped(value), type_name)


def of_text(text: Column, type_name: str) -> Column:
    """A simple value's text as Spark's types read it."""
    if type_name == "boolean":
        truth = F.when(text == "1", F.lit("true")).when(text == "0", F.lit("false"))
        return truth.otherwise(text)
    if type_name in ("timestamp", "timestamp_ntz", "date"):
        seconds = F.when(text.rlike(r"^-?\d+$"), F.timestamp_seconds(text.try_cast("bigint")))
        moment = seconds.cast("date") if type_name == "date" else seconds
        return F.coalesce(moment.cast("string"), text)
    return text


def _of_tuple(value: Column) -> Column:
    """A tuple of two lists as one text, as it was written before; null for everything else."""
    names, parts = _lists(value)
    spelled = F.zip_with(
        names, parts, lambda name, part: F.concat(untyped(name), F.lit(": "), untyped(part))
    )
    return F.when(_is_two_lists(value), F.array_join(spelled, ", "))


def _of_fields(value: Column, fields: dict[str, str]) -> Column:
    """A tuple whose fields are declared as a JSON object; null for what does not have exactly these."""
    written, named = untyped(value), _entries(value)
    # A text may hold commas: it ends where the next field's name stands.
    pattern = r",\s*".join(rf"{re.escape(name)}\s*: ?(.*?)" for name in fields)
    pattern = rf"(?s)^\s*{pattern}$"
    is_text = F.coalesce(written.rlike(pattern), F.lit(False))

    def spelled(at: int, name: str, kind: str) -> Column:
        of_name = F.get(F.filter(named, lambda one: one["key"] == name), F.lit(0))["value"]
        text = F.when(is_text, F.regexp_extract(written, pattern, at)).otherwise(untyped(of_name))
        own = of_text(text if kind == "string" else F.trim(text), kind)
        return F.concat(F.lit(f"{json.dumps(name)}:"), _json(own, kind))

    every = [spelled(at, name, kind) for at, (name, kind) in enumerate(fields.items(), start=1)]
    known = F.array(*[F.lit(name) for name in fields])
    names = F.array_sort(F.transform(named, lambda one: one["key"]))
    is_whole = is_text | F.coalesce(names == F.array_sort(known), F.lit(False))
    return F.when(is_whole, F.concat(F.lit("{"), F.concat_ws(",", *every), F.lit("}")))


def _entries(value: Column) -> Column:
    """The entries of a map in either form: structs of ``key`` (text) and ``value`` (variant)."""
    keys, values = _lists(value)
    zipped = F.zip_with(
        keys, values, lambda key, one: F.struct(untyped(key).alias("key"), one.alias("value"))
    )
    return F.when(_is_two_lists(value), zipped).otherwise(
        F.map_entries(value.try_cast("map<string,variant>"))
    )


def _lists(value: Column) -> tuple[Column, Column]:
    keys = F.try_variant_get(value, "$.keylist", "array<variant>")
    return keys, F.try_variant_get(value, "$.valuelist", "array<variant>")


def _is_two_lists(value: Column) -> Column:
    """True for an object that is nothing but two lists of one length."""
    keys, values = _lists(value)
    is_whole = _size(value) == 2
    return F.coalesce(is_whole & (F.size(keys) == F.size(values)), F.lit(False))


def _size(value: Column) -> Column:
    """How many names an object has."""
    return F.size(value.try_cast("map<string,variant>"))


def _json(text: Column, type_name: str) -> Column:
    """A simple value as JSON has it within an array or an object."""
    bare = F.lit(False)
    if type_name.startswith(_NUMERIC):
        bare = text.rlike(_NUMBER)
    elif type_name == "boolean":
        bare = text.isin("true", "false")
    elif types.fields(type_name):
        bare = text.startswith("{")
    spelled = F.when(bare, text).otherwise(_quoted(text))
    return F.coalesce(spelled, F.lit("null"))


def _quoted(text: Column) -> Column:
    """A text as a JSON string."""
    listed = F.to_json(F.array(text))
    return F.when(text.isNotNull(), F.substring(listed, F.lit(2), F.length(listed) - 2))


def is_beyond_unsigned(text: Column) -> Column:
    """True for a number that no unsigned number of 64 bits is; never for what is no number."""
    number = text.try_cast("decimal(38,0)")
    return F.coalesce(
        (number < 0) | (number > F.lit(str(LARGEST_UNSIGNED)).cast("decimal(38,0)")), F.lit(False)
    )
