"""What a mutation is: one line of the product that is wrong on purpose, and the law that has to notice.

Not here: the lists of them (``of_order``, ``of_gold``, ``of_stages``, ``of_newest``, ``of_events``,
``of_snapshots``), and how they are tried (``__main__``).
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

LAWS: Final = {
    1: "order-free",
    2: "redelivery",
    3: "accounting",
    4: "no resurrection",
    5: "absent is not null",
    6: "commit first",
    7: "closed graph",
    8: "replay",
    9: "any snapshot heals",
}
"""The laws that docs/laws.md lists, by number."""

GRAPH: Final = "tests/laws/test_tigergraph.py::test_gold_is_the_graph_that_the_store_has"
"""The laws of a graph in several partitions."""
HELD: Final = "tests/laws/test_tigergraph.py::test_a_table_that_is_not_the_stores_has_a_delete_held"
"""What must be said of a graph in several partitions where times do not tell which change came first."""


class Misplaced(Exception):
    """A mutation's text is not in its file, or is there several times: the list has to follow the product."""


@dataclass(frozen=True, slots=True)
class Mutation:
    """One fault of one line.

    ``law``: the number of the law that it breaks. ``means``: what somebody who looks at gold would see. ``file``: of
    the product. ``text`` is what stands there, once; ``instead`` is what takes its place. ``test``: which must fail.
    """

    law: int
    means: str
    file: str
    text: str
    instead: str
    test: str

    def applied(self, source: str) -> str:
        """The file's text with the fault.

        Raises:
            Misplaced: there is no one place for it.
        """
        found = source.count(self.text)
        if found != 1:
            raise Misplaced(f"{self.file} has {found} times, and not once: {self.text}")
        return source.replace(self.text, self.instead)

    def at(self, root: Path) -> Path:
        """The file that it is in, below a source tree."""
        return root / self.file


def of_kind(kind: str) -> str:
    """The laws of gold over one kind of history."""
    return (
        "tests/laws/gold/test_laws_of_gold.py"
        f"::test_gold_is_what_the_oracle_says_after_every_run[{kind}]"
    )
