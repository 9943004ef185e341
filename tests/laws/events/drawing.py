"""Which histories are drawn for each format, and under which feeds.

Half of a format's histories belong to a feed that takes everything at once. The other half belong to one that holds
deletes of whole tables, and whose tables are compacted up to a compaction watermark.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from tests.laws.events import dgraph, logs, tigergraph, yugabyte, yugabyte_xcluster
from tests.laws.events.meanings import Drawn
from tests.laws.oracle.event import LogPosition
from transforms.feed.feed import RangeDeletePolicy

Draw = Callable[[Sequence[int], RangeDeletePolicy], Drawn]


@dataclass(frozen=True, slots=True)
class Drawing:
    """How a format's histories are drawn; ``compaction_watermarks``: up to where tables are compacted, by name."""

    draw: Draw
    compaction_watermarks: Callable[[Sequence[int]], Mapping[str, LogPosition]]
    has_scopes: bool = True


def _of_log(
    format_name: str, compaction_watermark: LogPosition, *, has_scopes: bool = False
) -> Drawing:
    draw = partial(logs.drawn, format_name)
    return Drawing(draw, lambda _: {"item": compaction_watermark}, has_scopes)


DRAWINGS: Mapping[str, Drawing] = {
    "arcion_s3_json": _of_log("arcion_s3_json", logs.OF_LOGS),
    "arcion_s3_csv": _of_log("arcion_s3_csv", logs.OF_TIMES),
    "arcion_kafka": _of_log("arcion_kafka", logs.OF_LOGS),
    "debezium": _of_log("debezium", logs.OF_LOGS, has_scopes=True),
    "tigergraph": Drawing(
        tigergraph.drawn,
        lambda _: {
            tigergraph.PERSON: tigergraph.COMPACTION_WATERMARK,
            "edge_Knows": tigergraph.COMPACTION_WATERMARK,
        },
    ),
    "dgraph": Drawing(
        dgraph.drawn, lambda numbers: {dgraph.TRIPLES: dgraph.compaction_watermark(numbers)}
    ),
    "yugabyte": Drawing(yugabyte.drawn, lambda _: {"items": yugabyte.COMPACTION_WATERMARK}),
    "yugabyte_xcluster": Drawing(
        yugabyte_xcluster.drawn,
        lambda _: {"items": yugabyte_xcluster.COMPACTION_WATERMARK},
        has_scopes=False,
    ),
}


def worlds(format_name: str, seed: int, histories: int) -> list[Drawn]:
    """So many histories of a format, half of them of each feed."""
    drawing, first = DRAWINGS[format_name], 100_000 * seed
    half = max(1, histories // 2)
    applied = drawing.draw(range(first, first + half), "apply")
    later = range(first + half, first + histories)
    held = drawing.draw(later, "hold")
    held.compaction_watermarks = drawing.compaction_watermarks(later)
    return [applied, held]
