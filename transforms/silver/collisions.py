"""Source tables that would share one gold table.

Put here how two names of source tables are compared. Not here: names that no table can have
(``conforming/table_name_faults``), and declared tables that collide (``orchestration/feeds``).
"""

from __future__ import annotations

from collections.abc import Iterable


def collisions(sources: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    """Gold tables that two different source tables would share, from (table, source table) pairs.

    ``region`` and ``io_blitzz.region`` may be one table, named without and with its schema; ``a.region`` and
    ``b.region`` are two.
    """
    by_table: dict[str, set[str]] = {}
    for table, source in sources:
        by_table.setdefault(table, set()).add(source)

    def differ(one: str, other: str) -> bool:
        return not f".{one}".endswith(f".{other}") and not f".{other}".endswith(f".{one}")

    return {
        table: sorted(names)
        for table, names in by_table.items()
        if any(differ(one, other) for one in names for other in names)
    }
