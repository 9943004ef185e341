"""Faults of what comes before gold: of formats, of which delivery counts, of accounts.

Not here: faults of gold itself (``of_order``, ``of_gold``, ``of_stages``, ``of_newest``).
"""

from __future__ import annotations

from typing import Final

from tests.laws.mutations.mutation import GRAPH, Mutation

STAGES = "transforms/silver/stages.py"
CONFORM = "transforms/silver/conform.py"
CONSEQUENCES = "transforms/formats/tigergraph/decode.py"


def _law(name: str, of_format: str) -> str:
    """One of the laws of events over the histories of one format."""
    return f"tests/laws/events/test_laws_of_events.py::{name}[{of_format}]"


def _accounting(of_format: str) -> str:
    return _law("test_every_event_of_a_window_is_accounted_for_exactly", of_format)


def _redelivery(of_format: str) -> str:
    return _law("test_an_event_is_one_event_however_often_and_however_spelled_it_comes", of_format)


OF_EVENTS: Final = (
    Mutation(
        2,
        "an event that comes twice in a window is in silver twice",
        "transforms/silver/duplicates.py",
        "if event_id in known[1]:",
        "if False:",
        _redelivery("debezium"),
    ),
    Mutation(
        2,
        "two equal changes at two log positions are taken for one",
        "transforms/silver/conform.py",
        "*map(_netstring, identity_texts),",
        "",
        _redelivery("arcion_s3_json"),
    ),
    Mutation(
        3,
        "duplicates are in no account",
        STAGES,
        "count_row(accounts, row, DUPLICATE)",
        "pass",
        _accounting("debezium"),
    ),
    Mutation(
        3,
        "a key change is counted as two events",
        CONFORM,
        "old.derived, old.kept_as, old.facts, old.is_first = KEY_CHANGE, DERIVED, None, False",
        'old.derived, old.kept_as, old.facts, old.is_first = KEY_CHANGE, "changes", None, False',
        _accounting("arcion_s3_json"),
    ),
    Mutation(
        3,
        "what waits for a decision is counted as applied",
        "transforms/silver/changes.py",
        "return HELD if event.effect == HOLD else CHANGE",
        "return CHANGE",
        _accounting("tigergraph"),
    ),
    Mutation(
        3,
        "what came too late is counted as a duplicate",
        STAGES,
        "outcome = of_known if is_known else TOO_LATE",
        "outcome = of_known",
        _accounting("debezium"),
    ),
    Mutation(
        5,
        "a null of the source is as if the column had not been mentioned",
        "transforms/silver/conform.py",
        "texts[name] = None",
        "continue",
        _law("test_silver_holds_the_values_of_the_source", "debezium"),
    ),
    Mutation(
        7,
        "edges stay whose vertex is deleted",
        CONSEQUENCES,
        "gone = [_range_delete(message, one, OF_DELETED_VERTEX) for one in reach]",
        "gone: list[Effect] = []",
        GRAPH,
    ),
    Mutation(
        7,
        "an edge is there, and the vertex where it begins is not",
        CONSEQUENCES,
        'return [itself, Effect(message.vertex.table, "update", OF_SOURCE, after=source)]',
        "return [itself]",
        GRAPH,
    ),
    Mutation(
        7,
        "an undirected edge is there twice, once from each end",
        CONSEQUENCES,
        "ends = (*end, *begin) if message.is_swapped else (*begin, *end)",
        "ends = (*begin, *end)",
        GRAPH,
    ),
)
