"""Whatever sources call things: what Weir makes of a name lies in its folder, and is one name there."""

from __future__ import annotations

import os
import re
import tempfile
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from urllib.parse import unquote, urlsplit

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from assets.quality.data_docs import QualityFolder
from assets.quarantine.files import SIDECAR, Written, read_back, write_out
from assets.quarantine.records import QuarantinedRecord
from assets.storage import delta_rs, locks
from assets.storage.lake import Lake, Layer
from assets.storage.leases import LOCKS
from expectations.validation_results import ResultPlace
from orchestration.cli.onboard import Request, address_of
from orchestration.resources import lake_of
from tests.support.hostile_names import HOSTILE, IN_A_PATH, names
from transforms.errors import DecisionRefused, FeedMisdeclared, UnknownKey
from transforms.feed.feed import Feed
from transforms.feed.names import HISTORY, TOMBSTONES, asset_name, gold_name
from transforms.feed.windows import parse_window, window_of
from transforms.silver.declarations import name_fault

NOW = datetime(2025, 11, 20, 3, tzinfo=UTC)
FEED = Feed("shop", "arcion_s3_json", "/drops")
EMPTY_PARTS = {"", ".", ".."}


def fits(table: str, *parts: str | None) -> bool:
    return name_fault(table, table, parts) is None


def lies_in(path: str, folder: str) -> bool:
    """Whether it is one name in the folder, however it is read: as a path, or as an address."""
    name = path.removeprefix(f"{folder}/")
    return (
        path.startswith(f"{folder}/")
        and "/" not in name
        and name not in EMPTY_PARTS
        and os.path.normpath(name) == name
    )


def in_a_folder(warehouse: Path) -> Lake:
    return lake_of(str(warehouse))


@given(names)
@example("%2e%2e")
@example("a%2fb")
def test_a_table_that_a_stream_names_lies_in_its_layers_folder_or_in_quarantine(name: str) -> None:
    for warehouse in ("/lake", "s3a://bucket/lake"):
        lake = lake_of(warehouse)
        folder = f"{warehouse}/gold/shop"
        table = gold_name(name, "plain")
        if not fits(table):
            continue
        for told in (table, table + TOMBSTONES, table + HISTORY):
            path = lake.path(Layer.GOLD, "shop", told)
            assert lies_in(path, folder), path
            # A store's address is decoded once or twice on its way.
            address = delta_rs.address(path)
            assert unquote(unquote(address)) == unquote(address) or "://" not in path
            if "://" in path:
                assert unquote(urlsplit(address).path) == path.removeprefix("s3a://bucket")
                assert not urlsplit(address).query + urlsplit(address).fragment


@given(names, names)
def test_no_path_leaves_the_layer_whoever_names_it(feed: str, table: str) -> None:
    lake = lake_of("/lake")
    try:
        path = lake.path(Layer.GOLD, feed, table)
    except UnknownKey as fault:
        assert str(fault).isprintable()
        return
    assert path.startswith("/lake/gold/")
    assert os.path.normpath(path) == path.rstrip("/")
    assert path.count("/") <= 4


@pytest.mark.parametrize(
    "name", ["..", "../../x", "a/b", "/etc/passwd", "a`b", "%2e%2e", "a\x1b", "a[b]"]
)
def test_a_name_that_leads_elsewhere_is_refused(name: str) -> None:
    for feed, table in (("shop", name), (name, "orders"), (name, None)):
        with pytest.raises(UnknownKey, match="no table can be called"):
            lake_of("/lake").path(Layer.GOLD, feed, table)


@given(names, names)
def test_a_lock_is_a_file_among_the_locks(table: str, other: str) -> None:
    if not fits(table, table):
        return
    found = [locks._file_of(f"gold.{'f' * 60}.{one}{TOMBSTONES}") for one in (table, other)]
    assert len(found[0].encode("utf-8", "replace")) <= 255 - len(".json")
    assert "/" not in found[0]
    assert found[0] not in EMPTY_PARTS
    assert (found[0] == found[1]) == (table == other)


def test_locks_are_taken_where_names_are_hostile(tmp_path: Path) -> None:
    lake = in_a_folder(tmp_path / "lake")
    some = [name for name in HOSTILE if fits(gold_name(name, "plain"))]
    for name in some:
        with locks.exclusive(lake, f"gold.shop.{gold_name(name, 'plain')}"):
            pass
    assert len(some) > 20
    assert [*tmp_path.iterdir()] == [tmp_path / "lake"]
    assert {one.parent.name for one in tmp_path.rglob("*") if one.is_file()} == {LOCKS}


@given(names, st.sampled_from(["hour", "day"]))
@example("dt=2025-11-20'; --/x", "hour")
@example("2025/11/20/../../x", "day")
def test_a_window_is_a_time_whatever_the_object_is_called(name: str, size: str) -> None:
    window = window_of(f"{name}/2025-11-20/{name}", NOW, size)  # type: ignore[arg-type]
    parse_window(window, size)  # type: ignore[arg-type]
    assert re.fullmatch(r"[0-9T-]+", window, re.ASCII)


@given(names)
def test_results_of_checks_lie_in_the_feeds_folder(name: str) -> None:
    table = gold_name(name, "plain")
    if not fits(table):
        return
    place = ResultPlace(f"gold.shop.{table}", "2025-11-20T03", NOW)
    for warehouse in ("/lake", "s3://bucket/lake"):
        folder = QualityFolder(warehouse, "shop")
        page = folder.address(f"validations/{place.path}.html")
        assert page.startswith(f"{folder.root}/data_docs/validations/gold/shop/")
        assert not {".", ".."}.intersection(page.split("/"))


@given(names)
def test_an_assets_name_is_letters_and_digits(name: str) -> None:
    assert re.fullmatch(r"\w*", asset_name(gold_name(name, "plain")), re.ASCII)


def record(object_name: str) -> QuarantinedRecord:
    found = object.__new__(QuarantinedRecord)
    for part in QuarantinedRecord.__dataclass_fields__:
        object.__setattr__(found, part, None)
    object.__setattr__(found, "source_location", (object_name, "g", 1, 0))
    object.__setattr__(found, "id", "0123456789abcdef" * 4)
    return found


@given(names)
def test_a_record_is_exported_under_its_id(name: str) -> None:
    written = Written(record(name), b"payload", None)
    assert re.fullmatch(r"[0-9a-f]{12}\.(json|jsonl|csv|rdf|txt)", written.name)
    assert PurePosixPath(written.name).name == written.name


def test_files_beside_an_export_are_not_read_whatever_its_list_says(tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("not for Weir")
    folder = tmp_path / "export"
    write_out(FEED, [Written(record("a.txt"), b"payload", None)], folder)
    text = (folder / SIDECAR).read_text()
    (name,) = (one.name for one in folder.iterdir() if one.name != SIDECAR)
    (folder / SIDECAR).write_text(text.replace(name, "../secret.txt"))
    with pytest.raises(DecisionRefused, match="is not as it was written out"):
        read_back(FEED, folder)


@given(names)
def test_a_feed_that_a_landing_is_called_after_is_a_file_among_the_feeds(name: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        try:
            address = address_of(Request(f"s3://drops/{name}", Path(folder)))
        except FeedMisdeclared:
            return
        assert re.fullmatch(r"[a-z][a-z0-9_]*", address.name)


def test_hostile_paths_are_those_that_tables_are_refused_for() -> None:
    """So that the list does not grow harmless unseen."""
    refused = [name for name in IN_A_PATH if not fits(name)]
    assert len(refused) > len(IN_A_PATH) // 2
