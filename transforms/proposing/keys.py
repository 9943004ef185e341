"""Which columns seem to be a table's key, by the changes that a sample has of it.

Put here what speaks for a key where no schema tells it. Not here: keys that the stream tells (``tables_seen``).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Final, NamedTuple

from transforms.event import Image, Value

_MOST_COLUMNS: Final = 3
_SELDOM: Final = 4
_SURELY_NAMED: Final = 0
_MOST_TRIED: Final = 12
"""Of wide tables only the first columns are tried together."""


class SampledChange(NamedTuple):
    """One change of a table in the sample, each event once: what it did, and its images."""

    operation: str
    before: Image
    after: Image


class SampledKey(NamedTuple):
    """The key's columns, none where nothing tells rows apart; ``is_said``: the drop itself tells, so it is no guess."""

    columns: tuple[str, ...]
    is_said: bool
    evidence: str


def key_of(columns: Sequence[str], changes: Sequence[SampledChange]) -> SampledKey:
    """The key by what deletes and updates mention, else by which columns have no value twice."""
    by_deletes = _of_deletes(columns, changes)
    if by_deletes is not None:
        return by_deletes
    inserted = _inserted(changes)
    everywhere = [name for name in columns if _is_always_given(name, changes)]
    steady = [name for name in everywhere if _seldom_changes(name, changes)]
    for names in _candidates(steady):
        if _tells_apart(names, changes):
            return SampledKey(names, False, _evidence(names, inserted, changes))
    best = min(steady, key=lambda name: _rank(name, steady), default=None)
    if best is not None and not inserted:
        return SampledKey((best,), False, "a guess by its name: no row is inserted here")
    if best is not None and _rank(best, steady)[0] == _SURELY_NAMED:
        why = "a guess by its name, although several rows of the sample have the same"
        return SampledKey((best,), False, why)
    return SampledKey((), False, "no column tells the rows of the sample apart")


def _of_deletes(columns: Sequence[str], changes: Sequence[SampledChange]) -> SampledKey | None:
    """The columns that every delete mentions, where they are fewer than the table's: a source sends the key alone."""
    deletes = [one for one in changes if one.operation == "delete"]
    mentioned = {
        tuple(name for name in columns if one.before.get(name) is not None) for one in deletes
    }
    updates = [one for one in changes if one.operation == "update" and one.before]
    if not deletes:
        # Updates of such a source have nothing but the key of the old row.
        mentioned = {
            tuple(name for name in columns if one.before.get(name) is not None) for one in updates
        }
        deletes = updates
    if len(mentioned) != 1:
        return None
    (names,) = mentioned
    whole = max((len(one.after) for one in changes), default=0)
    if not names or len(names) >= whole or len(names) > _MOST_COLUMNS:
        return None
    what = "deletes" if deletes[0].operation == "delete" else "old images of updates"
    return SampledKey(names, True, f"the {what} have no other column")


def _inserted(changes: Sequence[SampledChange]) -> list[Image]:
    return [one.after for one in changes if one.operation in ("insert", "read") and one.after]


def _is_always_given(name: str, changes: Sequence[SampledChange]) -> bool:
    return all(
        one.after.get(name) is not None or one.before.get(name) is not None for one in changes
    )


def _moves(names: Sequence[str], changes: Sequence[SampledChange]) -> list[SampledChange]:
    """The updates that change one of these columns."""
    return [
        one
        for one in changes
        if one.operation == "update"
        and any(
            name in one.before and name in one.after and one.before[name] != one.after[name]
            for name in names
        )
    ]


def _seldom_changes(name: str, changes: Sequence[SampledChange]) -> bool:
    """Whether hardly an update changes it: of keys, too, one may be corrected."""
    updates = sum(one.operation == "update" for one in changes)
    return len(_moves([name], changes)) * _SELDOM <= updates


def _candidates(names: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """What may be a key, the likeliest first: one column before several."""
    ranked = sorted(names, key=lambda name: _rank(name, names))[:_MOST_TRIED]
    for count in range(1, _MOST_COLUMNS + 1):
        yield from combinations(ranked, count)


def _rank(name: str, names: Sequence[str]) -> tuple[int, int]:
    """By its name, then by where it stands: keys are called so, and come first."""
    plain = name.lower()
    if plain in ("id", "_id", "uuid", "key", "pk"):
        return _SURELY_NAMED, names.index(name)
    is_first = names.index(name) == 0
    looks_like_one = plain.endswith(("id", "key", "uuid", "pk", "_no", "number"))
    return 1 if looks_like_one and is_first else 2 if looks_like_one else 3, names.index(name)


def _tells_apart(names: tuple[str, ...], changes: Sequence[SampledChange]) -> bool:
    """Whether no two rows have the same values: one that is inserted again was deleted, or moved, before."""

    def of(image: Image) -> tuple[Value, ...]:
        return tuple(image.get(name) for name in names)

    came = Counter(of(image) for image in _inserted(changes))
    went = Counter(of(one.before) for one in changes if one.operation == "delete")
    went.update(of(one.before) for one in _moves(names, changes))
    return bool(came) and all(count <= 1 + went[value] for value, count in came.items())


def _evidence(
    names: tuple[str, ...], inserted: Sequence[Image], changes: Sequence[SampledChange]
) -> str:
    updates = sum(one.operation == "update" for one in changes)
    moved = len(_moves(names, changes))
    steady = ""
    if updates:
        steady = f", and {f'{moved:,}' if moved else 'none'} of {updates:,} updates changes it"
    if len(inserted) == 1:
        return f"a guess by its name, for the sample has one row{steady}"
    return f"a guess: no two of {len(inserted):,} rows have the same{steady}"
