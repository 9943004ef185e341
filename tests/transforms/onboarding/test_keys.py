"""Which columns seem to be a key: what deletes have alone, what no two rows share, and where nothing tells."""

from __future__ import annotations

from transforms.event import Image
from transforms.onboarding.evidence import SampledChange, SampledKey, sampled_key


def insert(**row: str | None) -> SampledChange:
    return SampledChange("insert", {}, row)


def update(before: Image, after: Image) -> SampledChange:
    return SampledChange("update", before, after)


def delete(**row: str | None) -> SampledChange:
    return SampledChange("delete", row, {})


def key(columns: str, *changes: SampledChange) -> SampledKey:
    return sampled_key(columns.split(), changes)


def test_what_deletes_have_alone_is_the_key_and_no_guess() -> None:
    found = key("name id", insert(name="Ada", id="1"), insert(name="Ada", id="2"), delete(id="1"))
    assert found.columns == ("id",)
    assert found.is_said
    # Of a whole old row nothing follows.
    whole = key("name id", insert(name="Ada", id="1"), delete(id="1", name="Ada"))
    assert (whole.columns, whole.is_said) == (("id",), False)


def test_old_images_of_updates_may_say_it_too() -> None:
    change = update({"code": "a"}, {"code": "a", "name": "x"})
    found = key("name code", insert(name="z", code="a"), change)
    assert (found.columns, found.is_said) == (("code",), True)


def test_no_two_rows_have_the_same_key() -> None:
    rows = [insert(a="1", b="1", c="x"), insert(a="1", b="2", c="x")]
    assert key("a b c", *rows).columns == ("b",)
    assert key("a b c", *rows, insert(a="2", b="1", c="x")).columns == ("a", "b")
    assert key("a c", insert(a="1", c="x"), insert(a="1", c="x")).columns == ()


def test_the_name_decides_among_columns_that_tell_rows_apart() -> None:
    rows = [insert(name="Ada", email="a@x", id="1"), insert(name="Bo", email="b@x", id="2")]
    assert key("name email id", *rows).columns == ("id",)
    assert not key("name email id", *rows).is_said


def test_a_key_is_always_given_and_hardly_ever_changes() -> None:
    nulls = [insert(id=None, name="a"), insert(id="2", name="b")]
    assert key("id name", *nulls).columns == ("name",)
    moving = [insert(id="1", name="a"), update({"id": "1", "name": "a"}, {"id": "2", "name": "a"})]
    assert key("id name", *moving).columns == ("name",)
    steady = [
        update({"id": "2", "name": f"{n}"}, {"id": "2", "name": f"{n + 1}"}) for n in range(4)
    ]
    assert key("id name", *moving, *steady).columns == ("id",)


def test_a_row_that_comes_again_after_it_went_is_no_second_one() -> None:
    again = [insert(id="1", n="a"), delete(id="1", n="a"), insert(id="1", n="b")]
    assert key("id n", *again).columns == ("id",)


def test_without_any_row_the_name_alone_speaks() -> None:
    found = key("name id", update({}, {"name": "a", "id": "1"}))
    assert found.columns == ("id",)
    assert "by its name" in found.evidence
    twice = [insert(id="1", x="a"), insert(id="1", x="a")]
    assert key("id x", *twice).columns == ("id",)
    assert "although several rows" in key("id x", *twice).evidence
