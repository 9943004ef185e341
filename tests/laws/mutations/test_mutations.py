"""The list of mutations follows the product: each names an existing line, and every law has some."""

from __future__ import annotations

import ast
from collections import Counter
from pathlib import Path

import pytest

from tests.laws.mutations.__main__ import (
    HISTORIES,
    MUTATIONS,
    broken,
    copied,
    noticed,
    table_cell,
    tried,
)
from tests.laws.mutations.mutation import LAWS, Misplaced, Mutation

FORGOTTEN_TOMBSTONE = "a tombstone counts for nothing"


def name_of(mutation: Mutation) -> str:
    return f"{mutation.law}: {mutation.means}"


@pytest.mark.parametrize("mutation", MUTATIONS, ids=name_of)
def test_every_mutation_has_one_place_in_the_product_and_a_test(
    root: Path, mutation: Mutation
) -> None:
    # What comes out of it is Python, so that it is the law that fails, and not the import.
    ast.parse(mutation.applied((root / mutation.file).read_text()))
    assert mutation.text != mutation.instead
    file, _, name = mutation.test.partition("::")
    assert f"\ndef {name.partition('[')[0]}(" in (root / file).read_text()


def test_every_law_is_broken_in_some_way_and_in_no_way_twice() -> None:
    assert Counter(one.law for one in MUTATIONS).keys() == LAWS.keys()
    kinds = Counter((one.file, one.text, one.instead, one.test) for one in MUTATIONS)
    assert max(kinds.values()) == 1


def test_a_mutation_without_its_one_place_says_so(tmp_path: Path) -> None:
    mutation = Mutation(1, "nothing", "a.py", "x = 1", "x = 2", "tests/test_a.py::test_a[b]")
    (tmp_path / "a.py").write_text("x = 1\ny = 1\n")
    with broken(tmp_path, mutation):
        assert (tmp_path / "a.py").read_text() == "x = 2\ny = 1\n"
    assert (tmp_path / "a.py").read_text() == "x = 1\ny = 1\n"
    for text, times in (("y = 1\n", 0), ("x = 1\nx = 1\n", 2)):
        with pytest.raises(Misplaced, match=rf"a\.py has {times} times, and not once: x = 1"):
            mutation.applied(text)
    assert table_cell(mutation.test) == "`test_a` b"


def test_a_law_holds_in_the_copy_and_fails_where_its_line_is_broken(root: Path) -> None:
    mutation = next(one for one in MUTATIONS if one.means.startswith(FORGOTTEN_TOMBSTONE))
    with copied(root) as tree:
        sound = tried(tree, [mutation.test], HISTORIES[0])
        assert sound.returncode == 0, sound.stdout + sound.stderr
        histories, said = noticed(tree, mutation)
    assert histories, said
