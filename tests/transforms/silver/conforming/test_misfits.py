"""Values that their columns cannot hold: an event's fault names all of them, and a summary reads them back."""

from __future__ import annotations

import pytest

from transforms.event import Value
from transforms.silver.conforming.faults import MISFIT, Misfit, misfits, misfits_told

COLUMNS = {"id": "int", "total": "decimal(12,2)", "since": "date", "tags": "array<string>"}


@pytest.mark.parametrize(
    ("values", "detail", "told"),
    [
        ({"total": "twelve"}, "total is twelve, which is no decimal(12,2)", [("total", "twelve")]),
        (
            {"id": "x", "since": "a; b is c, which is odd", "tags": b"ab"},
            "id is x, which is no int; since is a; b is c, which is odd, which is no date;"
            " tags is 2 bytes, which is no array<string>",
            [("id", "x"), ("since", "a; b is c, which is odd"), ("tags", "2 bytes")],
        ),
    ],
)
def test_all_misfits_of_an_event_are_told(
    values: dict[str, Value], detail: str, told: list[tuple[str, str]]
) -> None:
    found = misfits(values, COLUMNS)
    assert (found.reason, found.detail) == (MISFIT, detail)
    assert misfits_told(detail) == [Misfit(name, value, COLUMNS[name]) for name, value in told]


def test_of_very_many_misfits_some_are_told() -> None:
    columns = dict.fromkeys((f"c{at}" for at in range(25)), "int")
    found = misfits(dict.fromkeys(columns, "x"), columns)
    assert found.detail.endswith("c19 is x, which is no int; 5 more")
    assert len(misfits_told(found.detail)) == 20
