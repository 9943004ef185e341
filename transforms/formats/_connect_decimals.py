"""Unscaled decimals as Kafka Connect writes them, big-endian two's complement in base64, as exact decimal texts."""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F

from transforms.gold.ordering import let

_LIMB, _CHUNK = 1_000_000_000, 1 << 24
"""Nine decimal digits, and six hexadecimal ones."""


def unscaled(text: Column, scale: Column) -> Column:
    """Big-endian two's complement, in base64, with so many digits after the point; null for a scale beyond reason."""
    scale = F.when(scale.between(-1000, 1000), scale)
    return let(
        F.hex(F.try_to_binary(text, F.lit("base64"))),
        lambda written: let(_integer(written), lambda number: _pointed(number, scale)),
    )


def _pointed(number: Column, scale: Column) -> Column:
    digits = F.ltrim(number, F.lit("-"))
    padded = F.lpad(digits, F.greatest(F.char_length(digits), scale + 1), "0")
    size = F.char_length(padded)
    return F.concat(
        F.when(number.startswith("-"), "-").otherwise(""),
        F.when(
            scale > 0,
            F.concat(
                F.substring(padded, F.lit(1), size - scale),
                F.lit("."),
                F.substring(padded, size - scale + 1, scale),
            ),
        ).otherwise(
            F.concat(digits, F.when(digits == "0", "").otherwise(F.repeat(F.lit("0"), -scale)))
        ),
    )


def _integer(written: Column) -> Column:
    """Two's complement in hexadecimal as a decimal text; of any length, since a source's decimals may have any."""
    negative = F.substring(written, 1, 1) >= "8"
    filled = F.when(negative, F.lpad(written, 16, "F")).otherwise(F.lpad(written, 16, "0"))
    inverted = F.translate(written, "0123456789ABCDEF", "FEDCBA9876543210")
    long = F.when(negative, F.concat(F.lit("-"), _magnitude(inverted, 1))).otherwise(
        _magnitude(written, 0)
    )
    return F.when(F.char_length(written) <= 16, F.conv(filled, 16, -10)).otherwise(long)


def _magnitude(written: Column, added: int) -> Column:
    """An unsigned hexadecimal number, plus so much, as a decimal text: schoolbook, nine digits at a time."""
    size = F.ceil(F.char_length(written) / 6).cast("int")
    padded = F.lpad(written, size * 6, "0")
    chunks = F.transform(
        F.sequence(F.lit(0), size - 1),
        lambda at: F.conv(F.substring(padded, at * 6 + 1, F.lit(6)), 16, 10).cast("bigint"),
    )
    none = F.array().cast("array<bigint>")
    limbs = F.aggregate(chunks, none, lambda limbs, chunk: _carried(limbs, _CHUNK, chunk))
    limbs = _carried(limbs, 1, F.lit(added).cast("bigint"))
    texts = F.transform(F.reverse(limbs), lambda limb: F.lpad(limb.cast("string"), 9, "0"))
    digits = F.ltrim(F.array_join(texts, ""), F.lit("0"))
    return F.when(digits == "", "0").otherwise(digits)


def _carried(limbs: Column, by: int, plus: Column) -> Column:
    """The limbs, smallest first, times a number plus another."""
    start = F.struct(F.array().cast("array<bigint>").alias("done"), plus.alias("carry"))

    def step(state: Column, limb: Column) -> Column:
        return let(
            limb * by + state["carry"],
            lambda value: F.struct(
                F.concat(state["done"], F.array(value % _LIMB)).alias("done"),
                F.call_function("div", value, F.lit(_LIMB)).alias("carry"),
            ),
        )

    return F.aggregate(
        limbs, start, step, lambda state: F.concat(state["done"], F.array(state["carry"]))
    )
