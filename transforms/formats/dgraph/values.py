"""A value as gold has it: exact text, one spelling for one value, and where it belongs.

A float is spelled as Dgraph's export does, for that is the same in every version; all else as in the event. Not here:
what becomes of it (``effects``).
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from transforms.feed import Feed
from transforms.formats.dgraph.messages import UNSIGNED, of_hexadecimal
from transforms.formats.spec import fault

STAR = "_STAR_ALL"
LOSSY = ("geo", "bigfloat")

_FLOAT = r"^(-?)([0-9]+)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]{1,4}))?$"
_MOMENT = (
    r"^[0-9]{4,}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])"
    r"T([01][0-9]|2[0-3])(:[0-5][0-9]){2}(\.[0-9]+)?(Z|[+-][0-9]{2}:[0-5][0-9])$"
)

# Possessive, so that a long text cannot overflow the stack of Java's matcher.
_NUMBERS = (
    r'"event"\s*:\s*\{(?:[^"{}]++|"[^"\\]*+(?:\\.[^"\\]*+)*+")*?'
    r'"value"\s*:\s*(-?[0-9][0-9.eE+-]*|\[[^\]"]*\])'
)
"""The event's value, if it is a number, or numbers in an array: within a text, the quotes of such names are escaped."""

_WRITTEN_AS = {
    "int": "^-?[0-9]{1,19}$",
    "float": _FLOAT,
    "bool": "^(true|false)$",
    "datetime": _MOMENT,
    "uid": "^[0-9]{1,20}$",
    "float32vector": r"^\[.*\]$",
}
_FREE = ("default", "binary", "geo", "string", "password", "bigfloat")


def with_values(said: DataFrame, feed: Feed) -> DataFrame:
    """Add the event's ``op``, ``uid``, ``attr``, ``value``, ``value_type``, and what the feed declares of ``attr``.

    ``is_star``: the delete is of all values. ``is_lost``: the value is ``{}``. ``in_list``: whether the predicate holds
    many values (null where nobody can say: a star delete of a predicate that is not declared). ``is_declared``.
    """
    lists = F.create_map(
        *[F.lit(part) for one in feed.predicates.values() for part in (one.name, one.list)]
    ).cast("map<string,boolean>")
    value, kind = F.col("written"), F.col("value_type")
    is_star = (F.col("op") == "del") & (value == STAR) & (kind == "default")
    # Dgraph makes a predicate that its schema lacks a list for edges, and a single value for all else.
    unspoken = F.when(~F.col("is_star"), kind == "uid")
    # What the documentation calls it nobody has seen; a mutation's is attr.
    dropped = F.coalesce(named("pred"), named("attr"))
    return (
        said.withColumn("op", F.lower("said.operation"))
        .withColumn("uid", F.when(F.col("kind") != "drop", in_decimal(F.col("said.uid"))))
        .withColumn("attr", F.when(F.col("kind") == "drop", dropped).otherwise(named("attr")))
        .withColumn("value_type", F.lower("said.value_type"))
        .withColumn("written", written())
        .withColumn("is_star", F.coalesce(is_star, F.lit(False)))
        .withColumn("is_lost", F.coalesce(kind.isin(*LOSSY) & (value == "{}"), F.lit(False)))
        .withColumn("listed", F.try_element_at(lists, F.col("attr")))
        .withColumn("is_declared", F.col("listed").isNotNull())
        .withColumn("in_list", F.coalesce("listed", unspoken))
        .withColumn("fault", F.coalesce("fault", value_fault()))
        .withColumn(
            "value",
            F.when(~F.col("is_lost") & ~F.col("is_star"), canonical(value, kind)),
        )
        .drop("listed", "written")
    )


def canonical(text: Column, kind: Column) -> Column:
    """One text for one value."""
    return (
        F.when(kind == "int", text.try_cast("bigint").cast("string"))
        .when(kind == "uid", text.try_cast(UNSIGNED).cast("string"))
        .when(kind == "float", float_text(text))
        .when(kind == "float32vector", F.regexp_replace(text, r"\s", ""))
        .otherwise(text)
    )


def named(part: str) -> Column:
    """A predicate's name in the event; null where it is empty, too."""
    return F.nullif(F.col(f"said.{part}"), F.lit(""))


def in_decimal(text: Column) -> Column:
    """A uid as the stream has it: tools that show events write 0x…, as Dgraph's answers do."""
    return F.coalesce(of_hexadecimal(text), text)


def written() -> Column:
    """The event's value as text: of numbers that are not whole exactly as they stand in the record.

    Spark's reader of JSON makes doubles of those: it has 4.9E-324 for 5e-324, and 0 for -0.
    """
    as_landed = F.col("payload").cast("string")
    # Of a dump whose value is a text, only that is the event: headers may look like one.
    of_record = F.when(~as_landed.contains(r"\"event\""), as_landed)
    verbatim = [
        F.nullif(F.regexp_extract(text, _NUMBERS, 1), F.lit(""))
        for text in (of_record, F.col("message"))
    ]
    has_numbers = F.lower("said.value_type").isin("float", "float32vector", "bigfloat")
    said, kind = F.col("said.value"), F.lower("said.value_type")
    numbers = F.when(has_numbers & ~F.col("is_export"), F.coalesce(*verbatim, said))
    return numbers.when(kind == "uid", in_decimal(said)).otherwise(said)


def float_text(text: Column) -> Column:
    """A float as Dgraph exports it (Go's 'G' with the shortest digits): 1, 0.5, 1.234567891E+06, 1E+21.

    The event has the shortest digits already, so that they are only put into another order, and none is computed.
    """
    sign, whole, fraction, power = (F.regexp_extract(text, _FLOAT, group) for group in range(1, 5))
    read = F.concat(whole, fraction)
    without_zeros = F.ltrim(read, F.lit("0"))
    digits = F.rtrim(without_zeros, F.lit("0"))
    shift = F.coalesce(power.try_cast("int"), F.lit(0))
    exponent = (
        F.char_length(whole) - (F.char_length(read) - F.char_length(without_zeros)) + shift - 1
    )
    parts = F.struct(sign.alias("sign"), digits.alias("digits"), exponent.alias("exponent"))
    return F.transform(F.array(parts), _spelled)[0]


def _spelled(parts: Column) -> Column:
    sign, digits, exponent = parts["sign"], parts["digits"], parts["exponent"]
    size = F.char_length(digits)
    first, rest = F.substring(digits, 1, 1), F.substring(digits, 2, 400)
    mantissa = F.concat(first, F.when(rest == "", "").otherwise(F.concat(F.lit("."), rest)))
    figures = F.abs(exponent).cast("string")
    power = F.when(F.char_length(figures) < 2, F.concat(F.lit("0"), figures)).otherwise(figures)
    scientific = F.concat(mantissa, F.when(exponent < 0, "E-").otherwise("E+"), power)
    small = F.concat(F.lit("0."), F.repeat(F.lit("0"), -exponent - 1), digits)
    whole = F.rpad(F.substr(digits, F.lit(1), exponent + 1), exponent + 1, F.lit("0"))
    large = F.concat(
        whole,
        F.when(size <= exponent + 1, "").otherwise(
            F.concat(F.lit("."), F.substr(digits, exponent + 2, size))
        ),
    )
    return F.concat(
        sign,
        F.when(digits == "", "0")
        .when((exponent < -4) | (exponent >= 6), scientific)
        .when(exponent < 0, small)
        .otherwise(large),
    )


def value_fault() -> Column:
    """A mutation whose node, predicate or value is missing or is not what it says to be."""
    kind, value = F.col("value_type"), F.col("written")
    parts = {name: F.col(f"said.{name}") for name in ("uid", "attr", "value", "value_type")}
    parts["attr"] = named("attr")
    missing = F.array_compact(
        F.array(*[F.when(given.isNull(), F.lit(f"event.{name}")) for name, given in parts.items()])
    )
    looks = F.coalesce(
        *[F.when(kind == name, value.rlike(pattern)) for name, pattern in _WRITTEN_AS.items()],
        F.lit(True),
    )
    in_range = (
        F.when(kind == "int", value.try_cast("bigint").isNotNull())
        .when(kind == "uid", is_unsigned(value))
        .when(kind == "float", F.abs(value.try_cast("double")) != F.lit("Infinity").cast("double"))
        .otherwise(F.lit(True))
    )
    return F.when(
        F.col("kind").isin("mutation", "export"),
        F.when(
            F.size(missing) > 0,
            fault("missing_field", "the event lacks ", F.array_join(missing, ", ")),
        )
        .when(
            ~F.coalesce(is_unsigned(F.col("uid")), F.lit(False)),
            fault("value_does_not_fit", "uid is ", F.col("uid"), ", which is no number of 64 bits"),
        )
        .when(
            ~kind.isin(*_WRITTEN_AS, *_FREE),
            fault(
                "unknown_value_type",
                *("value_type ", kind, " is not known; known: "),
                ", ".join(sorted((*_WRITTEN_AS, *_FREE))),
            ),
        )
        .when(
            ~F.col("is_star") & ~(looks & in_range),
            fault("value_does_not_fit", F.col("attr"), " is ", value, ", which is no ", kind),
        ),
    )


def is_unsigned(text: Column) -> Column:
    """True for an unsigned number of 64 bits."""
    biggest = F.lit("18446744073709551615").cast(UNSIGNED)
    return text.rlike("^[0-9]{1,20}$") & (text.try_cast(UNSIGNED) <= biggest)
