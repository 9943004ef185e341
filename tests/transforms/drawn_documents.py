"""JSON texts of the types that hold others, drawn at random: many are no value of the type, some are no JSON.

The draws are the same in every run.
"""

from __future__ import annotations

import json
import random
from typing import Final

from tests.transforms import drawn_texts
from tests.transforms.drawn_texts import BITS, SIMPLE
from transforms.column_types.nested import Array, Map, Struct
from transforms.column_types.registry import column_type

MANY: Final = 500

NESTED: Final = (
    *("array<int>", "array<tinyint>", "array<string>", "array<decimal(12,2)>", "array<boolean>"),
    *("array<decimal(20,10)>", "array<double>", "array<float>", "array<date>", "array<timestamp>"),
    *("array<binary>", "array<array<string>>", "array<timestamp_ntz>", "array<map<string,bigint>>"),
    *("array<struct<a:int,b:decimal(12,2),c:date>>", "set<int>", "set<string>", "set<double>"),
    *("set<timestamp>", "set<decimal(12,2)>", "set<binary>", "set<struct<a:int,b:string>>"),
    *("map<string,int>", "map<int,string>", "map<double,int>", "map<timestamp,int>"),
    *(
        "map<boolean,array<int>>",
        "map<decimal(12,2),int>",
        "map<string,struct<a:timestamp,b:binary>>",
    ),
    *("struct<a:int,b:string,c:boolean>", "struct<a:struct<b:array<int>>>"),
    "struct<`a b`:bigint,C:map<string,double>>",
)
_MISFITS: Final = ("null", "true", "1", "1.5", '""', '"x"', "[]", "{}", "[1]", '{"a":1}', "1e2")
_WHOLE: Final = (
    "[]",
    "{}",
    "[null]",
    '["\\ud800"]',
    "[1],2",
    "[1]]",
    "[1",
    "['a']",
    "[NaN]",
    "[01]",
)
_ONCE: Final = ('{"a":1,"a":2}', '[1],"value":[2]', '{"a":1}}', '{"1":1,"01":2}', '{"-0.0":1}')


def drawn(kind: str) -> list[str]:
    """All texts of a type, each once."""
    rng = random.Random(kind)
    draw = drawn_texts.mutated(lambda rng: _document(kind, rng))
    found = (*drawn_texts.WORDS, *_WHOLE, *_ONCE, *(draw(rng) for _ in range(MANY)))
    return [*dict.fromkeys(found)]


def _document(kind: str, rng: random.Random) -> str:
    """JSON that is a value of the type, more or less."""
    chance = rng.randrange(40)
    if chance < 2:
        return rng.choice(_MISFITS) if chance else "null"
    found_type = column_type(kind)
    if isinstance(found_type, Array):
        inner = [_document(found_type.element.name, rng) for _ in range(rng.choice((0, 1, 2, 3)))]
        return f"[{rng.choice((',', ', ')).join(inner + inner[: rng.randint(0, 1)])}]"
    if isinstance(found_type, Map):
        keys = [_key(found_type.key.name, rng) for _ in range(rng.choice((0, 1, 2, 3)))]
        return _object([(key, _document(found_type.item.name, rng)) for key in keys])
    if isinstance(found_type, Struct):
        fields = found_type.fields.items()
        found = [(name, _document(one.name, rng)) for name, one in fields if rng.randrange(8)]
        if rng.randrange(6) == 0:
            found.append((rng.choice(("other", "A", "a", "")), "1"))
        rng.shuffle(found)
        return _object(found)
    return _simple(kind, rng)


def _object(found: list[tuple[str, str]]) -> str:
    return "{" + ",".join(f"{json.dumps(name)}: {one}" for name, one in found) + "}"


def _key(kind: str, rng: random.Random) -> str:
    return rng.choice(("a", "b", "\u00e9", '"', "\n")) if kind == "string" else SIMPLE[kind](rng)


def _simple(kind: str, rng: random.Random) -> str:
    if kind in BITS:
        bits = rng.choice((2, 3, 7, 8, 15, 16, 31, 32, 63, 64))
        return str(rng.randint(-(2**bits), 2**bits))
    if kind.startswith("decimal"):
        plain = (
            f"{rng.uniform(-10, 10) * 10 ** rng.randint(-12, 10):.{rng.choice((0, 1, 2, 2, 9))}f}"
        )
        found = rng.choice((plain, plain, plain, str(rng.randint(-99, 99)), "1e2", "1E-7", "1e30"))
        return rng.choice((*[found] * 6, f'"{found}"', '"1,5"', '" 1"', '""'))
    if kind in ("float", "double"):
        plain = str(rng.uniform(-10, 10) * 10 ** rng.randint(-12, 12))
        words = rng.choice(("NaN", "Infinity", "-Infinity", "+INF", "-INF", "inf", "1.5", ""))
        whole = str(rng.randint(-99, 99))
        return rng.choice(
            (*[plain, whole] * 3, "1e400", "1e-400", "-0.0", "0", "1E5", f'"{words}"')
        )
    if kind == "boolean":
        return rng.choice((*["true", "false"] * 4, '"true"', "1"))
    if kind == "binary":
        return rng.choice(
            (*['"aMOp"', '"aA=="', '""', '"YWJj"'] * 2, '"aB=="', '"a"', '"!"', '"-_=="')
        )
    if kind == "string":
        drawn = drawn_texts.text(rng)
        other = rng.choice(("1", "1.50", "[1, 2.0]", "true", '{"b": "x", "a": null}'))
        return rng.choice((json.dumps(drawn), json.dumps(drawn, ensure_ascii=False), other))
    return rng.choice((*[json.dumps(SIMPLE[kind](rng))] * 8, "1620787841", '"2026"'))
