"""What a feed file may say of Dgraph's predicates and types, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from orchestration.feeds.load import load_feed
from transforms.errors import FeedMisdeclared
from transforms.feed.feed import Feed, Predicate

HEAD = "format: dgraph\nlanding: drops\n"


def loaded(folder: Path, text: str) -> Feed:
    file = folder / "social.yaml"
    file.write_text(f"{HEAD}{text}", encoding="utf-8")
    return load_feed(file)


def test_predicates_have_a_type_and_may_be_lists(tmp_path: Path) -> None:
    text = "predicates: {nick: {type: string, list: true}, age: {type: int}, 'a.b': {}}\n"
    assert loaded(tmp_path, text).predicates == {
        "nick": Predicate("nick", "string", list=True),
        "age": Predicate("age", "int"),
        "a.b": Predicate("a.b", None),
    }


def test_types_name_the_predicates_of_their_nodes(tmp_path: Path) -> None:
    text = "types: {Film: [title, year]}\npredicates: {title: {}, year: {type: int}}\n"
    assert loaded(tmp_path, text).types == {"Film": ("title", "year")}


@pytest.mark.parametrize("text", ["", "predicates: {}\n", "predicates: {age: {type: int}}\n"])
def test_gold_is_one_table_whatever_is_declared(tmp_path: Path, text: str) -> None:
    feed = loaded(tmp_path, text)
    assert list(feed.tables) == ["triples"]
    table = feed.tables["triples"]
    assert table.key == ("namespace", "uid", "predicate", "_weir_member")
    assert table.columns["uid"] == table.columns["namespace"] == "decimal(20,0)"


def test_a_topic_and_a_folder_are_landings(tmp_path: Path) -> None:
    file = tmp_path / "social.yaml"
    file.write_text("format: dgraph\nlanding: kafka://broker:9092/dgraph-cdc\n")
    assert load_feed(file).landing == "kafka://broker:9092/dgraph-cdc"
    assert loaded(tmp_path, "").landing == str(tmp_path / "drops")


@pytest.mark.parametrize(
    ("text", "key", "fault"),
    [
        ("predicates: {a: {type: strin}}", "predicates.a.type", "did you mean string"),
        ("predicates: {a: {type: Int}}", "predicates.a.type", "'Int' is no type of Dgraph"),
        ("predicates: {a: {type: '[string]'}}", "predicates.a.type", "is no type of Dgraph"),
        ("predicates: {a: {list: many}}", "predicates.a.list", "must be true or false"),
        ("predicates: {a: {kind: int}}", "predicates.a.kind", "is not a known key"),
        ("predicates: {a: int}", "predicates.a", "must be a mapping"),
        ("predicates: [a]", "predicates", "must be a mapping"),
        ("tables: {t: {key: [a], columns: {a: int}}}", "tables", "is no key of a feed of format"),
        ("vertices: {P: {}}", "vertices", "is no key of a feed of format dgraph"),
        ("types: {P: []}", "types.P", "has no value"),
        ("types: {P: [nam]}\npredicates: {name: {}}", "types.P", "did you mean name"),
        ("types: {P: [a], p: [a]}\npredicates: {a: {}}", "types.p", "differs from P only in case"),
        ("types: {P: [a, P.a]}\npredicates: {a: {}, P.a: {}}", "types.P", "both be the column a"),
        ("types: {P: [uid]}\npredicates: {uid: {}}", "types.P", "both be the column uid"),
        ("types: {a/b: [a]}\npredicates: {a: {}}", "types.a/b", "no folder can have this name"),
    ],
)
def test_a_fault_names_its_key(tmp_path: Path, text: str, key: str, fault: str) -> None:
    with pytest.raises(FeedMisdeclared) as caught:
        loaded(tmp_path, f"{text}\n")
    assert caught.value.key == key
    assert fault in caught.value.fault
