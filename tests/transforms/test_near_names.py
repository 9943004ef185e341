"""Declared names that were probably meant for names that only the stream has."""

from __future__ import annotations

import pytest

from transforms.near_names import nearest


@pytest.mark.parametrize(
    ("met", "unmet", "meant"),
    [
        ("Person.nick", ["Person.boss", "Person.nik"], "Person.nik"),
        ("tpch.public.customer", ["custommer", "orders"], "custommer"),
        # Another schema, or another type of nodes.
        ("public.pets", ["main.pets"], "main.pets"),
        ("Film.name", ["Person.nam", "Film.nam", "Actor.nam"], "Film.nam"),
        # That both are of persons makes no two names alike.
        ("Person.age", ["Person.name", "Person.boss"], None),
        ("pets", [], None),
    ],
)
def test_the_nearest_name_is_told_by_its_last_part(
    met: str, unmet: list[str], meant: str | None
) -> None:
    assert nearest(met, unmet) == meant
