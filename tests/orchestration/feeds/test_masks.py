"""What a feed file may say of masks, and what is refused, with its place."""

from __future__ import annotations

from pathlib import Path

import pytest

from orchestration.feeds.load import load_feed
from orchestration.feeds.tables import MASK_KEY
from transforms.errors import FeedMisdeclared
from transforms.feed.digest import feed_digest, table_digest
from transforms.feed.feed import Feed
from transforms.feed.masks import MaskKey

FORMATS = ("arcion_s3_csv", "arcion_s3_json", "dgraph")
SECRET = "a secret of sixteen"
WINDOW = "2026-11-20T04"
COLUMNS = "{id: int, ssn: string, birth: date, notes: varchar(9)}"


@pytest.fixture(autouse=True)
def secret(monkeypatch: pytest.MonkeyPatch) -> None:
    """The secret in the environment, unless a test takes it away."""
    monkeypatch.setenv(MASK_KEY, SECRET)


def load(folder: Path, mask: str, more: str = "", key: str = "[id]") -> Feed:
    table = f"tables:\n  people:\n    key: {key}\n    columns: {COLUMNS}\n"
    text = f"format: arcion_s3_csv\nlanding: s3://drops/hr/\n{table}"
    text += f"    mask: {mask}\n" if mask else ""
    file = folder / "hr.yaml"
    file.write_text(text + more, encoding="utf-8")
    return load_feed(file, FORMATS)


def refusal(folder: Path, mask: str, more: str = "", key: str = "[id]") -> str:
    with pytest.raises(FeedMisdeclared) as caught:
        load(folder, mask, more, key)
    assert SECRET not in str(caught.value)
    return str(caught.value)


def test_masks_are_read_and_gold_lacks_what_is_dropped(tmp_path: Path) -> None:
    feed = load(tmp_path, "{ssn: hash, birth: null, notes: drop}")
    people = feed.tables["people"]
    assert people.masks == {"ssn": "hash", "birth": "null", "notes": "drop"}
    assert people.columns == {"id": "int", "ssn": "string", "birth": "date"}
    assert [*people.source_columns] == [*people.cdc_columns] == ["id", "ssn", "birth", "notes"]
    assert feed.mask_key == MaskKey(SECRET)


@pytest.mark.parametrize("word", ["null", '"null"', "'null'", "~"])
def test_null_is_a_word_with_and_without_quotes(tmp_path: Path, word: str) -> None:
    assert load(tmp_path, f"{{birth: {word}}}").tables["people"].masks == {"birth": "null"}


def test_a_column_that_came_later_and_one_that_was_renamed_may_be_masked(tmp_path: Path) -> None:
    more = f"    since: {{notes: {WINDOW}}}\n    renamed: {{remarks: notes}}\n"
    people = load(tmp_path, "{notes: drop}", more).tables["people"]
    assert "notes" not in people.at("2026-11-20T03").source_columns
    assert "notes" in people.at(WINDOW).source_columns


@pytest.mark.parametrize(
    ("mask", "key", "fault"),
    [
        ("{sn: hash}", "sn", "is no column of the table; did you mean ssn"),
        ("{ssn: hsh}", "ssn", "'hsh' is not a mask; did you mean hash"),
        ("{id: drop}", "id", "the column is the key's, and drop leaves nothing"),
        ("{id: null}", "id", "the column is the key's, and null leaves nothing"),
        ("{birth: hash}", "birth", "the column is declared as date: declare string, or use null"),
        ("{remarks: hash}", "remarks", "is an earlier name: mask notes"),
    ],
)
def test_a_mask_that_is_none_is_refused_with_its_place(
    tmp_path: Path, mask: str, key: str, fault: str
) -> None:
    told = refusal(tmp_path, mask, "    renamed: {remarks: notes}\n")
    assert f"line 7, column 12: tables.people.mask.{key}" in told
    assert fault in told


@pytest.mark.parametrize("written", ["null", "Null", "NULL", "~", "'null'"])
def test_null_is_a_mask_however_yaml_spells_it(tmp_path: Path, written: str) -> None:
    assert load(tmp_path, f"{{ssn: {written}}}").tables["people"].masks == {"ssn": "null"}


@pytest.mark.parametrize("kind", ["drop", "null"])
def test_a_table_without_a_key_is_told_apart_by_all_its_columns(tmp_path: Path, kind: str) -> None:
    told = refusal(tmp_path, f"{{notes: {kind}}}", key="[]")
    assert "in a table without a key, whose rows all columns tell apart" in told
    assert load(tmp_path, "{notes: hash}", key="[]").tables["people"].masks == {"notes": "hash"}


@pytest.mark.parametrize(
    ("held", "words"),
    [(None, "is not set"), ("", "is not set"), ("fifteen signs..", "has fewer than 16 characters")],
)
def test_a_hash_needs_a_secret(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, held: str | None, words: str
) -> None:
    monkeypatch.delenv(MASK_KEY)
    if held is not None:
        monkeypatch.setenv(MASK_KEY, held)
    told = refusal(tmp_path, "{ssn: hash}")
    assert "line 7, column 12: tables.people.mask.ssn" in told
    assert (
        f"at least 16 characters in the environment variable WEIR_MASK_KEY, which {words}" in told
    )
    assert "fifteen" not in told
    # Other masks, and feeds without any, need none.
    assert load(tmp_path, "{ssn: null}").mask_key is None
    assert load(tmp_path, "").mask_key is None


def test_a_line_break_behind_the_secret_is_none_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(MASK_KEY, f"{SECRET}\n")
    assert load(tmp_path, "{ssn: hash}").mask_key == MaskKey(SECRET)


def test_graphs_have_no_masks(tmp_path: Path) -> None:
    file = tmp_path / "graph.yaml"
    text = "format: dgraph\nlanding: s3://drops/graph/\npredicates: {nick: {mask: hash}}\n"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(FeedMisdeclared, match=r"predicates.nick.mask: is not a known key"):
        load_feed(file, FORMATS)


def test_masks_and_their_key_are_what_tables_are_made_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    masks = ["", "{ssn: null}", "{ssn: drop}", "{ssn: hash}", "{ssn: hash, notes: drop}"]
    feeds = [load(tmp_path, mask) for mask in masks]
    monkeypatch.setenv(MASK_KEY, SECRET * 2)
    feeds.append(load(tmp_path, masks[-1]))
    assert len({feed_digest(feed, WINDOW) for feed in feeds}) == len(feeds)
    assert len({table_digest(feed, feed.tables["people"]) for feed in feeds}) == len(feeds)
    # The key is no matter of a feed that hashes nothing.
    again = [load(tmp_path, mask) for mask in masks[:3]]
    assert [feed_digest(feed, WINDOW) for feed in again] == [
        feed_digest(feed, WINDOW) for feed in feeds[:3]
    ]
