"""What a run reports about range deletes, and about transactions that do not end."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path

import pytest

from assets.bronze import from_objects
from assets.gold import apply
from assets.gold.range_deletes import effect_lines
from assets.silver import checks, derive
from assets.storage.lake import Lake
from tests.laws.drawn import model_format
from tests.laws.drawn.model_histories import to_record
from tests.laws.oracle.event import Event, Transaction
from tests.support.pet_feed import PETS, bring, lay, names
from transforms.feed.feed import Feed


def born(number: int, at: int, transaction: Transaction | None = None) -> Event:
    row: dict[str, str | None] = {"id": str(number), "name": f"pet {number}"}
    return Event(
        *("model", "pets", "insert", (0, 1, at), None, {}, row, "replace"), transaction=transaction
    )


def lines(*events: Event) -> bytes:
    return "".join(json.dumps(to_record(event)) + "\n" for event in events).encode()


def test_a_truncate_says_what_it_removed_and_an_old_open_transaction_that_it_is_overdue(
    lake: Lake, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model_format.register(monkeypatch)
    feed = Feed(
        *("zoo", "model", str(folder)),
        tables={"pets": PETS},
        transaction_timeout=timedelta(hours=2),
    )
    lay(
        folder, "2025-11-20/03/a.jsonl", lines(born(1, 1), born(2, 2), born(4, 9, Transaction("t")))
    )
    made = bring(lake, feed)[1]
    assert made.violations["every_transaction_is_committed"] == 1
    assert made.violations["no_transaction_is_overdue"] == 0
    assert (
        "- `t: open: 1 change since window 2025-11-20T03 (0 hours)"
        in (checks.samples(lake, made.findings)["every_transaction_is_committed"])
    )

    truncates = [
        Event("model", "pets", "truncate", (0, 1, 5, more), None, {}, {}, "remove", scope={})
        for more in range(7)
    ]
    lay(folder, "2025-11-20/05/b.jsonl", lines(*truncates, born(3, 6)))
    window = ["2025-11-20T05"]
    from_objects.land(lake, feed, window)
    made = derive.derive(lake, feed, window)
    assert made.violations["no_transaction_is_overdue"] == 1
    assert checks.samples(lake, made.findings)["no_transaction_is_overdue"].startswith(
        "- `t: never_committed: 1 change"
    )
    done = apply.apply(lake, feed, PETS, window)
    # Only some are reported: a stream may have as many of them as it has events.
    assert effect_lines(done.tables[0].range_deletes) == [
        "truncate of the whole table (2025-11-20/05/b.jsonl line 1) removed 2 rows",
        *[
            f"truncate of the whole table (2025-11-20/05/b.jsonl line {line}) removed 0 rows"
            for line in (2, 3, 4, 5)
        ],
        "2 more of truncate removed 0 rows",
    ]
    assert names(lake, feed) == {3: "pet 3"}

    # Its commit comes after all: nothing was lost.
    commit = Event(
        *("model", "pets", "commit", (0, 1, 10), None, {}, {}, "commit"),
        transaction=Transaction("t", expected=1),
    )
    lay(folder, "2025-11-20/06/c.jsonl", lines(commit))
    made = bring(lake, feed, ["2025-11-20T06"])[1]
    assert made.violations["no_transaction_is_overdue"] == 0
    assert names(lake, feed) == {3: "pet 3", 4: "pet 4"}


def test_a_window_with_an_unread_object_holds_a_transaction_back(
    lake: Lake, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model_format.register(monkeypatch)
    feed = Feed("zoo", "model", str(folder), tables={"pets": PETS})
    both = Transaction("t", has_begin=True)
    begin = Event("model", "", "begin", (0, 1, 1), None, {}, {}, "begin", transaction=both)
    commit = Event("model", "", "commit", (0, 1, 4), None, {}, {}, "commit", transaction=both)
    lay(folder, "2019-11-20/02/ancient.jsonl", lines(born(9, 1)))
    lay(folder, "2025-11-20/02/a.jsonl", lines(begin, born(1, 2, both)))
    bring(lake, feed)
    # More of the window that was open comes after its run, and the commit in the next one.
    lay(folder, "2025-11-20/02/b.jsonl", lines(born(2, 3, both)))
    lay(folder, "2025-11-20/03/c.jsonl", lines(commit))
    made = bring(lake, feed, ["2025-11-20T03"])[1]
    assert names(lake, feed) == {}
    assert checks.samples(lake, made.findings)["every_transaction_is_committed"].endswith(
        "windows with drops that are not read yet: 2025-11-20T02`"
    )
    bring(lake, feed)
    assert names(lake, feed) == {1: "pet 1", 2: "pet 2"}
