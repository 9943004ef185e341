"""README and docs say which source comes in which envelope and where from, and golden cases show each of it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.transforms.formats import matrix
from tests.transforms.formats.in_process import bronze
from tests.transforms.formats.in_topics import in_topics
from tests.transforms.formats.matrix import CELLS, DUMP, ENVELOPES, FILES, LANDINGS, PLAIN, Cell
from tests.transforms.formats.test_golden import CASES, Case, feed
from transforms.families.kafka_records import message_of_dump
from transforms.formats import FORMATS
from transforms.record import BronzeRecord

SHOWN = [
    (cell, landing, case)
    for cell in CELLS
    for landing in LANDINGS
    if (case := cell.case(landing)) is not None
]


def records(case: Case) -> list[BronzeRecord]:
    """The records of a case's drop."""
    rows = bronze(feed(case.folder.parent.name), {"": case.scenario()})
    return [BronzeRecord(**row) for row in rows]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("cell", "landing", "name"),
    SHOWN,
    ids=[f"{cell.source}-{cell.envelope.name}-{landing}" for cell, landing, _ in SHOWN],
)
def test_the_case_of_a_cell_has_its_source_envelope_and_landing(
    cell: Cell, landing: str, name: str
) -> None:
    case = Case(CASES / name)
    assert case.expected["changes"]
    assert has_envelope(cell, case)
    assert comes_from(landing, cell, case)


def has_envelope(cell: Cell, case: Case) -> bool:
    """Whether an object of the case is in the envelope."""
    if cell.envelope is PLAIN:
        recognise = FORMATS[cell.source].recognise
        assert recognise is not None
        marks = [recognise(feed(cell.source), one) for one in records(case)]
        return any(mark is not None and mark.is_sure for mark in marks)
    return any(
        re.search(cell.envelope.shows, data.replace(rb"\"", b'"'), re.MULTILINE)
        for data in case.scenario().drop.values()
    )


def comes_from(landing: str, cell: Cell, case: Case) -> bool:
    """Whether the case is of plain files, of a dump, or of records that ``test_golden_landings`` sends to a topic."""
    if not FORMATS[cell.source].reads_kafka:
        return landing == FILES
    sent = in_topics(feed(cell.source), case.scenario())
    if landing == FILES:
        # The records of a container file have its schema as their header.
        return any(one.is_bare for one in sent) or all(one.header for one in records(case))
    if landing == DUMP:
        texts = ((message_of_dump(one).text, one.payload or b"") for one in records(case))
        return any((text or "").encode() != payload for text, payload in texts)
    return any(not one.is_bare and not one.is_damaged for one in sent)


def test_an_envelope_is_told_from_the_others_where_one_case_shows_several() -> None:
    """Else a cell might be shown by what is another one's."""
    case = Case(CASES / "dgraph/wrapped_by_clouds_and_tools")
    found = {
        name: [
            one.name
            for one in matrix.WRAPPINGS
            if re.search(one.shows, data.replace(rb"\"", b'"'), re.MULTILINE)
        ]
        for name, data in sorted(case.scenario().drop.items())
    }
    assert [*found.values()] == [[one.name] for one in matrix.WRAPPINGS] + [[]]


def test_every_source_and_every_envelope_has_a_cell() -> None:
    assert {one.source for one in CELLS} == FORMATS.keys()
    assert {one for names, _, _ in matrix.SOURCES for one in names} == FORMATS.keys()
    assert {one.envelope for one in CELLS} == {*ENVELOPES}


def test_the_tables_of_the_pages_are_made_of_the_cells(root: Path) -> None:
    remedy = "paste what `python -m tests.transforms.formats.matrix` prints"
    readme = (root / "README.md").read_text(encoding="utf-8")
    assert matrix.table_of_readme() in readme, remedy
    page = (root / "docs/feeds.md").read_text(encoding="utf-8")
    assert matrix.table_of_docs() in page, remedy
    assert matrix.reasons_of_docs() in page, remedy
