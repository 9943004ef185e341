"""What a mutation is: one line of the product that is wrong on purpose, and the law that has to notice."""

from __future__ import annotations

from collections.abc import Iterator
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

_OF_EVENTS = "events/test_laws_of_events.py"
_ENVELOPES = "events/test_shapes_of_envelopes.py"
_SNAPSHOTS = "snapshots/test_any_snapshot_heals.py"
TESTS: Final = {
    "gold": "gold/test_laws_of_gold.py::test_gold_is_what_the_oracle_says_after_every_run",
    "newest": "gold/test_newest_laws.py::test_the_newest_change_decides_what_the_fold_decides",
    "lengths": "gold/test_newest_laws.py::test_positions_of_any_length_are_compared_as_the_fold_compares_them",
    "accounting": f"{_OF_EVENTS}::test_every_event_of_a_window_is_accounted_for_exactly",
    "redelivery": f"{_OF_EVENTS}::test_an_event_is_one_event_however_often_and_however_spelled_it_comes",
    "shapes": "events/test_shapes.py::test_records_of_one_shape_become_what_each_becomes_by_itself",
    "damaged": "events/test_shapes.py::test_damaged_records_become_what_each_becomes_by_itself",
    "envelopes": f"{_ENVELOPES}::test_a_shape_says_what_a_message_of_a_topic_says",
    "in avro": f"{_ENVELOPES}::test_a_shape_says_what_a_message_in_avro_says",
    "bare rows": f"{_ENVELOPES}::test_a_shape_says_what_a_row_without_an_envelope_says",
    "lines": f"{_ENVELOPES}::test_a_shape_says_what_a_line_of_a_dump_says",
    "absent": "events/test_shapes.py::test_a_value_that_is_said_to_be_absent_is_a_fault",
    "bundles": "events/test_plain_rows.py::test_rows_in_bundles_become_what_each_becomes_by_itself",
    "trails": "events/test_plain_rows.py::test_a_trail_is_the_same_without_changes_that_it_would_not_keep",
    "values": f"{_OF_EVENTS}::test_silver_holds_the_values_of_the_source",
    "graph": "test_tigergraph.py::test_gold_is_the_graph_that_the_store_has",
    "held": "test_tigergraph.py::test_a_table_that_is_not_the_stores_has_a_delete_held",
    "heals": f"{_SNAPSHOTS}::test_a_snapshot_heals_whatever_the_order_the_repeats_and_the_windows",
    "begins again": f"{_SNAPSHOTS}::test_a_log_that_begins_again_stops_gold_until_its_epoch_is_opened",
}
"""The tests of laws, below ``tests/laws``, by the names that the list of mutations has for them."""


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


def listed() -> Iterator[Mutation]:
    """The mutations of ``mutations.txt``: below the file that has it the law's number, its test, and what is seen.

    Two lines follow: what stands there, and what takes its place.
    """
    file = ""
    for block in Path(__file__).with_name("mutations.txt").read_text().strip().split("\n\n"):
        if block.startswith("# "):
            file = block.removeprefix("# ")
            continue
        said, text, instead = block.split("\n")
        (law, _, test), means = said.partition(": ")[0].partition(" "), said.partition(": ")[2]
        name, bracket, kind = test.partition("[")
        test = f"tests/laws/{TESTS[name]}{bracket}{kind}"
        assert (text[:2], instead[:1]) == ("- ", "+"), block
        yield Mutation(int(law), means, file, text[2:], instead[2:], test)
