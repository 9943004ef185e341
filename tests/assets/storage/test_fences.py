"""On an object store nobody commits who has lost the lease, nor behind a commit that he has not read."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pyarrow as pa
import pytest

from assets.storage import delta_rs, leases
from assets.storage.in_process_table import InProcessTable
from assets.storage.leases import leased
from tests.services.seaweed import Store, store
from transforms.errors import LeaseLost, TableBusy

__all__ = ["store"]

pytestmark = pytest.mark.services

WAREHOUSE = "s3a://fences/tables"
COLUMNS = pa.schema([pa.field("window", pa.string()), pa.field("number", pa.int64())])


@pytest.fixture(autouse=True)
def found(store: Store, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for name, value in store.environment().items():
        monkeypatch.setenv(name, value)
    store.put("fences", {})
    yield


def rows(window: str, number: int = 1) -> pa.Table:
    return pa.table({"window": [window], "number": [number]}, schema=COLUMNS)


def local(name: str) -> InProcessTable:
    return InProcessTable.at(f"silver.{name}", f"{WAREHOUSE}/silver/{name}", WAREHOUSE)


def small(name: str) -> InProcessTable:
    return InProcessTable.at(f"silver.{name}", f"{WAREHOUSE}/silver/{name}", WAREHOUSE, COLUMNS)


def version(name: str) -> int:
    table = delta_rs.opened(f"{WAREHOUSE}/silver/{name}", WAREHOUSE)
    return -1 if table is None else int(table.version())


def test_a_table_that_was_written_since_it_was_read_is_left_as_it_is() -> None:
    local("zoo").append(rows("a"))
    late = local("zoo")
    local("zoo").append(rows("b", 2))
    for act in (
        lambda: late.append(rows("c")),
        lambda: late.put_windows(rows("c"), ["c"]),
        lambda: late.rewrite(rows("c")),
        lambda: local("zoo").append(rows("c"), seen=0),
    ):
        with pytest.raises(TableBusy, match="another run is writing"):
            act()
    assert version("zoo") == 1
    assert sorted(local("zoo").read(COLUMNS)["number"].to_pylist()) == [1, 2]


def test_a_table_that_another_has_made_meanwhile_is_neither_added_to_nor_replaced() -> None:
    late = local("new")
    local("new").append(rows("a"))
    with pytest.raises(TableBusy):
        late.append(rows("b"))
    with pytest.raises(TableBusy):
        late.rewrite(rows("b"))
    assert version("new") == 0
    # One that is not there is made with what belongs to it.
    local("made").rewrite(rows("a"), {"weir.declaration": "x"})
    assert local("made").properties["weir.declaration"] == "x"


def test_who_has_lost_a_lease_commits_nothing_anywhere(store: Store) -> None:
    small("kept").append(rows("a"))
    with leased(WAREHOUSE, "silver.kept", "silver.kept"):
        small("kept").append(rows("b"))
        store.put("fences", {"tables/_locks/silver.kept.json": b'{"seconds": 60, "host": "two"}'})
        for one in leases._KEEPER.kept(WAREHOUSE):
            one.until = 0.0
        acts: tuple[Callable[[], object], ...] = (
            lambda: small("kept").append(rows("c")),
            lambda: small("kept").rewrite(rows("c")),
            lambda: small("kept").replace(rows("a", 2), "window", ["a"]),
            small("kept").tidy,
            lambda: local("kept").append(rows("c")),
            lambda: local("other").rewrite(rows("c")),
        )
        for act in acts:
            with pytest.raises(LeaseLost, match="on two has it"):
                act()
    assert (version("kept"), version("other")) == (1, -1)
