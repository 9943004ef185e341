"""When a source's schema or its declaration changes: a feed's policies, and what counts as which kind of change."""

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
