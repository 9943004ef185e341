"""Frames that are drawn for the verbs: keys of no, one and several parts, null parts, positions of all lengths."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Any

import pyarrow as pa

from transforms.column_types.map_columns import NUMBERS, TEXTS
from transforms.gold.fold_rows import FOLD_ROWS

ROWS = 1_500
_PARTS = (
    "",
    " ",
    "a",
    "ab",
    "b",
    "é",
    "e\u0301",
    "\uff21",
    "😀",
    "a,b",
    '"',
    "[]",
    "\x00",
    "null",
    None,
)
_NUMBERS = (-(2**63), -1, 0, 1, 9, 10, 100, 2**63 - 1)
_TEXTS = ("", "a", "b", "replace", "update", "remove", None)
ROOTS = pa.schema([("key", TEXTS), ("root", TEXTS)])
SORTED = pa.schema([("kind", pa.string()), ("by", pa.binary()), ("log_position", NUMBERS)])
"""What rows of ``CollectPositions`` are sorted by, under names of its own."""


@dataclass(frozen=True, slots=True)
class Frames:
    """What one verb or another is given.

    ``rows``: with the columns ``FOLD_ROWS``. ``part``: with some of these columns, which may be null. ``asked``: rows
    with a ``key``, many of them with one that ``rows`` have, and some more than once. ``roots``: of some keys.
    ``binaries``: with a column ``clock`` of bytes. ``log_positions``: to be sorted (``SORTED``).
    """

    rows: Any
    part: Any
    asked: Any
    roots: Any
    binaries: Any
    log_positions: Any

    def each(self, made: Callable[[Any], Any]) -> Frames:
        """The same, each frame made into another: an engine's own, say, or one without rows."""
        found = (self.rows, self.part, self.asked, self.roots, self.binaries, self.log_positions)
        return Frames(*map(made, found))


def drawn(seed: int, rows: int = ROWS) -> Frames:
    """Frames of about so many rows; the same number draws the same."""
    rng = Random(f"frames {seed}")
    keys = [_key(rng) for _ in range(rows // 6 + 1)]
    whole = pa.Table.from_pylist([_row(rng, keys) for _ in range(rows)], schema=FOLD_ROWS)
    names = ("key", "log_position", "effect", "event_id", "after", "moved_from", "is_new", "copies")
    part = pa.Table.from_pylist(
        [_with_nulls(rng, _row(rng, keys), names) for _ in range(rows)],
        schema=pa.schema([FOLD_ROWS.field(name) for name in names]),
    )
    asked = [rng.choice(keys) if rng.random() < 0.7 else _key(rng) for _ in range(rows // 8)]
    rooted = [*dict.fromkeys(map(tuple, rng.sample(keys, len(keys) // 3)))]
    roots = [{"key": one, "root": rng.choice(rooted)} for one in rooted]
    binaries = [
        {"key": rng.choice(keys), "clock": rng.choice([None, b"", pickle.dumps(("clock", at))])}
        for at in range(rows // 4)
    ]
    log_positions = [
        {
            "kind": rng.choice("xy"),
            "by": rng.choice([b"", b"a", b"\xff"]),
            "log_position": _numbers(rng),
        }
        for _ in range(rows // 2)
    ]
    clocks = pa.schema([("key", TEXTS), ("clock", pa.binary())])
    return Frames(
        *(whole, part, pa.table({"key": pa.array(asked, TEXTS)})),
        pa.Table.from_pylist(roots, schema=ROOTS),
        pa.Table.from_pylist(binaries, schema=clocks),
        pa.Table.from_pylist(log_positions, schema=SORTED),
    )


def _key(rng: Random) -> list[str | None]:
    return rng.choices(_PARTS, k=rng.choice((0, 1, 1, 1, 2, 2, 3)))


def _numbers(rng: Random) -> list[int]:
    return rng.choices(_NUMBERS, k=rng.choice((0, 1, 2, 2, 3, 4)))


def _image(rng: Random) -> dict[str, str | None]:
    return {name: rng.choice(_PARTS) for name in rng.sample(("a", "b", "é", ""), rng.randint(0, 3))}


def _row(rng: Random, keys: list[list[str | None]]) -> dict[str, Any]:
    return {
        "group": rng.choice(keys),
        "what": rng.randrange(7),
        "key": rng.choice(keys),
        "is_new": rng.random() < 0.5,
        "effect": rng.choice(_TEXTS),
        "log_position": _numbers(rng),
        "dedup_prefix": rng.randrange(5),
        "event_id": rng.choice(_TEXTS),
        "event_at": rng.choice((None, 0, -1, 2**53 + 1)),
        **{name: [*_image(rng).items()] for name in ("before", "after", "attribute_ops")},
        "moved_from": rng.choice(keys),
        "is_range_delete": rng.random() < 0.5,
        "is_derived": rng.random() < 0.5,
        "stream": rng.choice(_TEXTS),
        "reset": _numbers(rng),
        "copies": rng.randrange(3),
        "streams": [one for one in rng.choices(_TEXTS, k=2) if one is not None],
        "carried": rng.choice((None, b"", pickle.dumps(("x", 1)))),
        "ended_by": rng.choice(_TEXTS),
        "ended_at": rng.choice((None, 5)),
    }


def _with_nulls(rng: Random, row: dict[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    never = ("key", "log_position")
    return {name: row[name] if name in never or rng.random() < 0.7 else None for name in names}
