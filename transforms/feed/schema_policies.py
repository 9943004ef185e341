"""When a source's schema or its declaration changes: the policies of a feed, and what counts as which kind of change.

Put here which policies there are, what each kind of change is, and which types are wider than others (``widens``, which
gold, compacted history and tables that a stream describes ask). Not here: refusing a change
(``assets/gold/schema_changes.py``), and how policies are written (``orchestration``).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import asdict, dataclass
from typing import Final, Literal

DROP_COLUMN: Final = "drop_column"
"""The operation of a source's column drop: a range delete that sets the column to null in every row."""

UNFIT_IN_COLUMN: Final = re.compile(r"[ ,;{}()\n\t=.`]")
"""What a column's name cannot hold in a Delta table."""


@dataclass(frozen=True, slots=True)
class Policies:
    """What becomes of each kind of change (docs/schema_changes.md says what each policy does)."""

    add_column: Literal["keep", "evolve", "quarantine", "fail"] = "keep"
    drop_column: Literal["evolve", "keep", "hold", "fail"] = "evolve"
    rename_column: Literal["fail", "evolve"] = "fail"
    widen_type: Literal["evolve", "fail"] = "evolve"
    narrow_type: Literal["fail", "quarantine"] = "fail"
    rename_table: Literal["keep", "fail"] = "keep"

    def meaning(self) -> dict[str, str]:
        """Those that decide what events become, where they are not the default; a refusal decides nothing."""
        usual = asdict(Policies())
        chosen = {kind: getattr(self, kind) for kind in ("add_column", "drop_column")}
        return {
            kind: policy for kind, policy in chosen.items() if policy not in (usual[kind], "fail")
        }


def added(names: Iterable[str], declared: Collection[str]) -> tuple[str, ...]:
    """The undeclared columns that gold can have: those whose names a Delta table takes, and of which none is another's.

    Of names that differ only in case the first counts.
    """
    taken = {name.lower() for name in declared}
    found = []
    for name in sorted(set(names)):
        plain = name.lower()
        unfit = not name or UNFIT_IN_COLUMN.search(name) or plain.startswith("_weir_")
        if not unfit and plain not in taken:
            taken.add(plain)
            found.append(name)
    return tuple(found)


_DIGITS: Final = {"tinyint": 3, "smallint": 5, "int": 10, "bigint": 19}
_EXACT_IN_FLOATING: Final = {"float": ("tinyint", "smallint"), "double": ("int", "float")}
_DECIMAL: Final = re.compile(r"decimal\((\d+),(\d+)\)")
_ARRAY: Final = re.compile(r"array<(.*)>")


def widens(old: str, new: str) -> bool:
    """True where a column of the type ``new`` holds every value of the type ``old``, as Spark spells types."""
    if new in (old, "string"):
        return True
    if both := _of_both(_ARRAY, old, new):
        return widens(both[0][1], both[1][1])
    if new in _DIGITS:
        return old in _DIGITS and _DIGITS[old] < _DIGITS[new]
    if wider := _DECIMAL.fullmatch(new):
        precision, scale = int(wider[1]), int(wider[2])
        if narrower := _DECIMAL.fullmatch(old):
            whole, fraction = int(narrower[1]) - int(narrower[2]), int(narrower[2])
        else:
            whole, fraction = _DIGITS.get(old, 100), 0
        return scale >= fraction and precision - scale >= whole
    if new in _EXACT_IN_FLOATING:
        exact = _EXACT_IN_FLOATING[new]
        return old in exact or any(widens(old, one) for one in exact if one in _DIGITS)
    return old == "date" and new in ("timestamp", "timestamp_ntz")


def _of_both(
    shape: re.Pattern[str], old: str, new: str
) -> tuple[re.Match[str], re.Match[str]] | None:
    first, second = shape.fullmatch(old), shape.fullmatch(new)
    return (first, second) if first and second else None
