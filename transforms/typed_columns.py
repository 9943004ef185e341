"""Texts and the declared Spark SQL types: does a text fit, what is its canonical form, what is its typed value.

Everything here is ``Column -> Column``. Which column has which type is the feed's word (``feed.Table.columns``).
"""

from __future__ import annotations

import re

from pyspark.sql import Column
from pyspark.sql import functions as F

_NESTED = re.compile(r"^\s*(array|set|map|struct)\s*<", re.IGNORECASE)
_SET = re.compile(r"^\s*set\s*<(.*)>\s*$", re.IGNORECASE)
_MAP = re.compile(r"^\s*map\s*<\s*([^<>]*?)\s*,(.*)>\s*$", re.IGNORECASE)
_DECIMAL = re.compile(
    r"^\s*(?:decimal|numeric|dec)\s*(?:\(\s*\d+\s*(?:,\s*(\d+)\s*)?\)\s*)?$", re.IGNORECASE
)
_TEXT = re.compile(r"^\s*(string|binary)\s*$", re.IGNORECASE)
_BINARY = re.compile(r"^\s*binary\s*$", re.IGNORECASE)
_FLOATING = re.compile(r"^\s*(float|real|double)\s*$", re.IGNORECASE)

_NUMBER = r"^\s*[+-]?(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d+))?\s*$"
"""Group 1 is the whole part, group 2 the fraction, group 3 the exponent."""

# Spark's own casts are more lenient than a mirror may be: a date drops any text behind it, a year alone is the first of
# January, a time alone is today's, a fraction is cut to microseconds, and a zone is ignored where the type has none.
_DAY = r"(?!0000)\d{4}-\d{1,2}-\d{1,2}"
_MIDNIGHT = r"(?:[T ]00:00(?::00(?:\.0+)?)?Z?)?"
_CLOCK = r"(?:[T ]\d{1,2}:\d{1,2}(?::\d{1,2}(?:\.(?:\d{1,6}0*)?)?)?{zone})?"
_ZONE = r"\s*(?:[A-Za-z+-].*)?"
_WRITTEN_AS = {
    "date": rf"^\s*{_DAY}{_MIDNIGHT}\s*$",
    "timestamp": rf"^\s*{_DAY}{_CLOCK.replace('{zone}', _ZONE)}\s*$",
    "timestamp_ntz": rf"^\s*{_DAY}{_CLOCK.replace('{zone}', '')}\s*$",
}


def stored(type_name: str) -> str:
    """The Spark SQL type of a declared type: a set is kept as an array."""
    of_set = _SET.match(type_name)
    return f"array<{of_set[1]}>" if of_set else type_name


def element(type_name: str) -> str | None:
    """What an array or a set holds; None for other types."""
    holds = re.match(r"^\s*(?:array|set)\s*<(.*)>\s*$", type_name, re.IGNORECASE)
    return holds[1].strip() if holds else None


def entries(type_name: str) -> tuple[str, str] | None:
    """The key's and the value's type of a map with simple keys; None for other types."""
    holds = _MAP.match(type_name)
    return (holds[1], holds[2].strip()) if holds else None


def fields(type_name: str) -> dict[str, str] | None:
    """The fields of a struct by name, with their types; None for other types."""
    holds = re.match(r"^\s*struct\s*<(.*)>\s*$", type_name, re.IGNORECASE | re.DOTALL)
    if holds is None:
        return None
    named = [part.partition(":") for part in parts(holds[1])]
    return {name.strip(): kind.strip() for name, _, kind in named}


def parts(inside: str) -> list[str]:
    """What stands between brackets, cut at the commas that stand in no brackets of their own."""
    found, depth = [""], 0
    for sign in inside:
        depth += (sign in "<(") - (sign in ">)")
        if sign == "," and depth == 0:
            found.append("")
        else:
            found[-1] += sign
    return found


def typed(text: Column, type_name: str) -> Column:
    """The text's value in the declared type; null where it does not fit (``fits`` says so beforehand).

    A set is a sorted array without repeats.
    """
    if _BINARY.match(type_name):
        # Not every sequence of bytes is a text, so that bytes are base64 in canonical texts.
        return F.unbase64(text)
    if not _NESTED.match(type_name):
        return text.try_cast(type_name)
    value = F.from_json(text, _written(type_name))
    if _SET.match(type_name):
        return F.array_sort(F.array_distinct(value))
    pair = entries(type_name)
    if pair and pair[0].lower() != "string":
        return _keys_cast(value, pair[0])
    return value


def _keys_cast(value: Column, type_name: str) -> Column:
    """The map with typed keys; null where a key does not fit, or two texts are one key."""
    keys = F.transform(
        F.map_keys(value), lambda key: F.when(fits(key, type_name), key.try_cast(type_name))
    )
    sound = ~F.exists(keys, lambda key: key.isNull()) & (
        F.size(F.array_distinct(keys)) == F.size(keys)
    )
    return F.when(sound, F.map_from_arrays(keys, F.map_values(value)))


def text_of(value: Column, type_name: str) -> Column:
    """The canonical text of a typed value: what ``typed`` reads back as the same value."""
    if _NESTED.match(type_name):
        pair = entries(type_name)
        if pair and pair[0].lower() != "string":
            # Of moments as keys Spark would write the number of microseconds.
            keys = F.transform(F.map_keys(value), lambda key: key.cast("string"))
            value = F.map_from_arrays(keys, F.map_values(value))
        return F.to_json(value, {"ignoreNullFields": "false"})
    return F.base64(value) if _BINARY.match(type_name) else value.cast("string")


def _written(type_name: str) -> str:
    """The type as JSON can write it: a set is an array, the keys of an object are texts."""
    pair = entries(type_name)
    return f"map<string,{pair[1]}>" if pair else stored(type_name)


def fits(text: Column, type_name: str) -> Column:
    """True where the text is null, or becomes a value of the type without losing anything."""
    if _TEXT.match(type_name):
        return F.lit(True)
    value = typed(text, type_name)
    holds = value.isNotNull() & _keeps_all(text, value, type_name)
    return text.isNull() | F.coalesce(holds, F.lit(False))


def _keeps_all(text: Column, value: Column, type_name: str) -> Column:
    """True where the value says all that the text says; null or true where the text is no value anyway."""
    if _NESTED.match(type_name):
        return _is_read_whole(text, type_name)
    if decimal := _DECIMAL.match(type_name):
        # Spark rounds to the declared scale without a word: 1.239 would become 1.24.
        return fraction_digits(text) <= int(decimal[1] or 0)
    if _FLOATING.match(type_name):
        # 1e400 would become infinity and 1e-400 zero; a text that says so may. Java's 1.5f and 0x1p3 are no numbers.
        finite = F.abs(value) != F.lit("Infinity").cast("double")
        kept = finite & ((value != 0) | ~text.rlike(r"^[^eE]*[1-9]"))
        return text.rlike(r"(?i)^\s*[+-]?(?:inf|nan)") | (text.rlike(_NUMBER) & kept)
    written_as = _WRITTEN_AS.get(type_name.strip().lower())
    return F.lit(True) if written_as is None else text.rlike(written_as)


def fraction_digits(text: Column) -> Column:
    """How many digits a number needs after the point, however it is written: 1 for ``1.50`` and for ``15e-1``."""
    whole, fraction, exponent = (F.regexp_extract(text, _NUMBER, group) for group in (1, 2, 3))
    digits = F.concat(whole, fraction)
    significant = F.rtrim(digits, F.lit("0"))
    shift = F.coalesce(exponent.try_cast("int"), F.lit(0))
    needed = F.char_length(fraction) - F.char_length(digits) + F.char_length(significant) - shift
    return F.when(significant == "", F.lit(0)).otherwise(needed)


def _is_read_whole(text: Column, type_name: str) -> Column:
    """True where the text is one JSON document and every part of it has the type's shape.

    Read on its own, a document that goes on after its end, or that has one wrong field, gives what could be read of it.
    """
    wrapped = F.concat(F.lit('{"value":'), text, F.lit(',"end":0}'))
    shape = f"value {_written(type_name)}, end int, _corrupt_record string"
    reading = F.from_json(wrapped, shape, {"columnNameOfCorruptRecord": "_corrupt_record"})
    names = F.map_keys(F.try_parse_json(wrapped).try_cast("map<string,variant>"))
    return (F.size(names) == 2) & (reading["end"] == 0) & reading["_corrupt_record"].isNull()


def canonical(text: Column, type_name: str) -> Column:
    """One text for all ways to write a value: ``010`` and ``10`` are one int, ``1.5`` and ``1.50`` one decimal."""
    if _BINARY.match(type_name):
        return F.base64(text.cast("binary"))
    return text if _TEXT.match(type_name) else text_of(typed(text, type_name), type_name)


def by_type(
    types: list[str], type_of: Column, of_type: dict[str, Column], otherwise: Column
) -> Column:
    """Choose among columns by the name of a type: ``of_type[t]`` where ``type_of`` is ``t``."""
    choice = otherwise
    for name in reversed(types):
        choice = F.when(type_of == F.lit(name), of_type[name]).otherwise(choice)
    return choice
