"""Events of tables whose columns are of every type: as values, as keys, and in rows without a key."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from random import Random

from tests.laws.oracle.event import Event, Image
from tests.transforms import drawn_documents, drawn_texts
from transforms.column_types.registry import column_type
from transforms.feed.feed import Table

WITH_BLANKS = "struct<`a b`:bigint,C:map<string,double>>"
"""A type that no feed file may declare: Delta has no such field."""
KINDS = [one for one in (*drawn_texts.SIMPLE, *drawn_documents.NESTED) if one != WITH_BLANKS]
VALUES = {f"v{at}": kind for at, kind in enumerate(KINDS)}
PARTS = {f"k{at}": kind for at, kind in enumerate(drawn_texts.SIMPLE)}
OF_COPIES = {
    f"c{at}": kind
    for at, kind in enumerate(
        (
            *("double", "timestamp", "timestamp_ntz", "binary", "decimal(38,20)", "array<double>"),
            *("map<timestamp,int>", "struct<a:int,b:string,c:boolean>", "set<timestamp>"),
        )
    )
}
TYPED = Table("typed", ("id",), {"id": "int", **VALUES}, ("id", *VALUES), history=True)
KEYED = Table("keyed", tuple(PARTS), {**PARTS, "seen": "bigint"}, (*PARTS, "seen"), history=True)
COPIED = Table("copied", (), OF_COPIES, tuple(OF_COPIES))
TABLES = (TYPED, KEYED, COPIED)

SHOWN = {
    "float": ("NaN", "-Infinity", "-0.0", "3.4028235e38", "1.4e-45", "16777216"),
    "double": ("NaN", "Infinity", "-0.0", "1e22", "9007199254740993", "4.9e-324", "0.1"),
    "array<double>": ("[]", "[null]", "[-0.0,0.0]", '["NaN","Infinity"]', "[1e22,0.1]"),
}
"""Texts that are drawn more often than others."""


@cache
def texts(kind: str) -> list[str]:
    """Some texts that are values of the type."""
    source = drawn_texts if kind in drawn_texts.SIMPLE else drawn_documents
    judge = column_type(kind).judge
    found = source.drawn(kind)
    # Borders come before what is drawn at random.
    some = [*SHOWN.get(kind, ()), *found[:250], *found[-60:]]
    return [text for text in some if judge(text) is not None]


def events(seed: int, keys: int) -> list[Event]:
    """Changes of all the tables, of about so many keys each, in the order in which a source made them."""
    rng = Random(f"typed {seed}")
    drawn: dict[str, Callable[[Random], Image]] = {
        "typed": lambda rng: {"id": str(rng.randrange(keys))},
        "keyed": _one_of([_image(rng, PARTS) for _ in range(keys)]),
        "copied": _one_of([_image(rng, OF_COPIES, nulls=True) for _ in range(keys)]),
    }
    found: list[Event] = []
    for at in range(7 * keys):
        name = rng.choice([*drawn])
        key = drawn[name](rng)
        others = {"typed": VALUES, "keyed": {"seen": "bigint"}, "copied": {}}[name]
        effect = rng.choice(
            ("replace", "replace", "update", "remove") if others else ("replace", "remove")
        )
        values = {} if effect == "remove" else _image(rng, others, nulls=True)
        if effect == "update":
            values = {one: values[one] for one in rng.sample([*values], len(values) // 2)}
        image = key | values
        before, after = (image, {}) if effect == "remove" else ({}, image)
        found.append(
            Event(
                *("model", name, effect, (0, 1, at // 2), 1_732_060_800_000 + 1000 * at),
                *(before, after, effect),
                own_identity=(name, str(at)),
            )
        )
    return found


def _one_of(images: list[Image]) -> Callable[[Random], Image]:
    return lambda rng: dict(rng.choice(images))


def _image(rng: Random, kinds: dict[str, str], *, nulls: bool = False) -> Image:
    return {
        name: None if nulls and rng.random() < 0.1 else rng.choice(texts(kind))
        for name, kind in kinds.items()
    }
