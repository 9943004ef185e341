"""Declared names that were probably meant for names that only the stream has."""

from __future__ import annotations

import pytest

from transforms.near_names import did_you_mean, nearest


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
        # Oracle's names are in capitals, a feed file's need not be.
        ("ORCL.SHOP.PETS", ["shop.pets", "petz"], "shop.pets"),
        ("Pets", ["PETS", "pets"], "pets"),
    ],
)
def test_the_nearest_name_is_told_by_its_last_part(
    met: str, unmet: list[str], meant: str | None
) -> None:
    assert nearest(met, unmet) == meant


def test_a_name_of_which_only_the_case_differs_is_said_to_be_so() -> None:
    assert (
        did_you_mean("PETS", ["pets"]) == "; did you mean pets (only the case of letters differs)"
    )
    assert did_you_mean("PETS", ["petz"]) == "; did you mean petz"
