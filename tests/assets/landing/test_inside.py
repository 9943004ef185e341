"""Nothing outside a landing's folder is read by way of it, whatever links lie there; what is not read is said."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from assets.bronze import from_objects
from assets.landing import landings
from assets.landing.landings import open_landing
from transforms.errors import UnreadableLanding
from transforms.feed.feed import Feed

DAY = "2025-11-20"
WHAT_TO_DO = "Put the file itself into the landing, or mount its folder there: a mount is no link."


@pytest.fixture
def landing(tmp_path: Path) -> Path:
    """A landing with one drop, beside a folder with a secret."""
    for name in (f"landing/{DAY}/a.json", f"outside/{DAY}/secret.json"):
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).write_text('{"secret": 1}')
    return tmp_path / "landing"


def feed(landing: Path) -> Feed:
    return Feed("zoo", "arcion_s3_json", str(landing))


def to_file(landing: Path) -> str:
    (landing / DAY / "b.json").symlink_to(landing.parent / "outside" / DAY / "secret.json")
    return f"{DAY}/b.json"


def to_folder(landing: Path) -> str:
    (landing / "elsewhere").symlink_to(landing.parent / "outside")
    return f"elsewhere/{DAY}/secret.json"


def relative_and_by_way_of_inside(landing: Path) -> str:
    (landing / "here").symlink_to(".")
    (landing / "half").symlink_to(f"here/{DAY}/../../outside")
    return f"half/{DAY}/secret.json"


def to_a_link_that_leads_out(landing: Path) -> str:
    to_folder(landing)
    (landing / DAY / "b.json").symlink_to(f"../elsewhere/{DAY}/secret.json")
    return f"{DAY}/b.json"


def by_the_name_alone(landing: Path) -> str:
    return f"{DAY}/../../outside/{DAY}/secret.json"


WAYS_OUT = (
    to_file,
    to_folder,
    relative_and_by_way_of_inside,
    to_a_link_that_leads_out,
    by_the_name_alone,
)


@pytest.mark.parametrize("way", WAYS_OUT)
def test_what_leads_out_of_a_landing_is_not_opened(
    landing: Path, way: Callable[[Path], str]
) -> None:
    name = way(landing)
    with pytest.raises(UnreadableLanding) as refusal:
        open_landing(feed(landing)).read(name, "1-1", 100)
    secret = landing.parent / "outside" / DAY / "secret.json"
    assert str(refusal.value) == (
        f"feed zoo: cannot read {landing}/{name}: it is a link that leads out of the landing, to {secret}. {WHAT_TO_DO}"
    )


@pytest.mark.parametrize("days", [None, {DAY}])
@pytest.mark.parametrize("way", WAYS_OUT[:4])
def test_a_link_out_of_a_landing_is_listed_as_left_out_with_where_it_leads(
    landing: Path, way: Callable[[Path], str], days: set[str] | None
) -> None:
    way(landing)
    for number in range(30):
        (landing / f"no drop {number}").touch()
    opened = open_landing(feed(landing), ("**/*.json",))
    assert [one.name for one in opened.list(days)] == [f"{DAY}/a.json"]
    links = [path for path in landing.rglob("*") if path.is_symlink() and path.name != "here"]
    said = [
        f"{link.relative_to(landing)}: it is a link that leads out of the landing, to {link.resolve()}. {WHAT_TO_DO}"
        for link in sorted(links)
    ]
    # Before what is no drop anyway, so that many such things do not hide it.
    assert [*opened.left_out][: len(said)] == said
    assert opened.left_out.count == 30 + len(said)


def test_a_run_says_which_links_it_has_not_followed(landing: Path) -> None:
    to_folder(landing)
    found = from_objects.arrivals(feed(landing), lambda _: [], [f"{DAY}T00"])
    assert [one.name for one in found.new] == [f"{DAY}/a.json"]
    (link,) = found.links
    assert link.startswith("elsewhere: it is a link that leads out")
    assert link in found.left_out


def test_links_inside_a_landing_are_followed_and_its_own_folder_may_be_one(landing: Path) -> None:
    (landing / DAY / "b.json").symlink_to("a.json")
    (landing / DAY / "c.json").symlink_to(landing / DAY / "b.json")
    root = landing.parent / "link"
    root.symlink_to(landing)
    opened = open_landing(feed(root))
    listed = {one.name: one.generation for one in opened.list()}
    assert sorted(listed) == [f"{DAY}/{name}.json" for name in "abc"]
    for name, generation in listed.items():
        assert opened.read(name, generation, 100) == (b'{"secret": 1}', generation)
    assert opened.left_out.count == 0


def test_a_link_that_takes_a_files_place_while_it_is_opened_is_not_followed(
    landing: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever puts it there hopes to come between the look and the opening."""
    look = landings.leads_out

    def looked_at_too_early(path: str, real_root: str) -> str | None:
        found = look(path, real_root)
        swaps.pop()()
        return found

    def of_file() -> None:
        (landing / DAY / "a.json").unlink()
        (landing / DAY / "a.json").symlink_to(landing.parent / "outside" / DAY / "secret.json")

    def of_folder() -> None:
        (landing / DAY).rename(landing / "away")
        (landing / DAY).symlink_to(landing.parent / "outside" / DAY)
        (landing.parent / "outside" / DAY / "a.json").write_text("secret")

    monkeypatch.setattr(landings, "leads_out", looked_at_too_early)
    # By the time the way is walked again, it is another.
    monkeypatch.setattr("os.path.realpath", str)
    swaps = [of_folder, of_file]
    while swaps:
        with pytest.raises(UnreadableLanding, match="it is gone since it was listed"):
            open_landing(feed(landing)).read(f"{DAY}/a.json", "1-1", 100)


def test_a_pipe_in_a_files_place_is_not_waited_for(landing: Path) -> None:
    os.mkfifo(landing / DAY / "pipe.json")
    with pytest.raises(UnreadableLanding, match="it is gone since it was listed"):
        open_landing(feed(landing)).read(f"{DAY}/pipe.json", "1-1", 100)


def test_a_name_that_is_no_utf8_leads_out_in_print(landing: Path) -> None:
    away = landing.parent / os.fsdecode(b"\xff.json")
    away.write_text("{}")
    (landing / os.fsdecode(b"\xfe.json")).symlink_to(away)
    opened = open_landing(feed(landing))
    assert list(opened.list()) != []
    (link,) = opened.left_out.links
    assert link.startswith("?.json: it is a link that leads out")
    assert f"to {landing.parent}/?.json. " in link
