"""The laws of events, each over what was drawn and what the product made of it.

Accounting: every event of every window is counted once, under its outcome. Redelivery: an event is one event however
often, in whatever spelling and order it comes. Exactness: silver holds what the source had.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable

from tests.laws.events.meanings import Drawn, Meaning, Row
from tests.laws.events.product import Cut, Kept, Outcome
from tests.laws.oracle.event import LogPosition
from transforms.silver.frames import TO_QUARANTINE

COUNTS = (
    *("records", "events", "changes", "control", "duplicates", "quarantined", "held", "too_late"),
    *("derived", "derived_quarantined"),
)
LATE = "too_late"


def accounting(drawn: Drawn, outcome: Outcome) -> None:
    """Every window's accounts are what is counted here, and its events add up."""
    found: Counter[tuple[str, str, str]] = Counter()
    for account in outcome.accounts:
        for name in COUNTS:
            found[account["window"], account["table"] or "", name] += account[name]
    expected = counted(drawn)
    differing = [at for at in sorted({*found, *expected}) if found[at] != expected[at]]
    assert not differing, [(at, found[at], expected[at]) for at in differing[:5]]


def counted(drawn: Drawn) -> Counter[tuple[str, str, str]]:
    """The counts that the accounting must have, computed independently: by window, table (empty for none) and name."""
    found: Counter[tuple[str, str, str]] = Counter()
    for window, records in drawn.windows().items():
        seen: set[Hashable] = set()
        for record in records:
            found[window, record.meanings[0].table or "", "records"] += 1
            for meaning in record.meanings:
                names = outcomes_of(drawn, meaning, is_repeat=meaning.name in seen)
                if meaning.reason is None:
                    seen.add(meaning.name)
                for name in names:
                    found[window, meaning.table or "", name] += 1
                if meaning.derived is None:
                    found[window, meaning.table or "", "events"] += 1
    return found


def outcomes_of(drawn: Drawn, meaning: Meaning, *, is_repeat: bool) -> list[str]:
    """What one delivery of an event is counted as: own events always once, what follows from one where it counts."""
    if is_repeat and meaning.reason is None:
        return [] if meaning.derived is not None else ["duplicates"]
    if drawn.is_covered(meaning):
        if meaning.derived is not None:
            return [] if drawn.in_base(meaning) else ["derived_quarantined"]
        return ["duplicates" if drawn.in_base(meaning) else LATE]
    return [meaning.count, *["derived"] * (len(meaning.rows) - 1)]


def exactness(drawn: Drawn, bronze: Cut, outcome: Outcome) -> int:
    """Every row says what its source did, value for value, and so does what was quarantined; how many values."""
    values = 0
    for kept in outcome.rows:
        record = bronze.drawn[kept.at]
        meaning = record.meanings[kept.ordinal]
        if kept.kind == TO_QUARANTINE:
            reason = meaning.reason or LATE
            assert (kept.reason, kept.payload) == (reason, bronze.payloads[kept.at]), (
                kept,
                meaning,
            )
        if meaning.reason is not None:
            assert kept.kind == TO_QUARANTINE, (kept, meaning)
            continue
        row = row_of(kept, meaning)
        assert kept.row == row, f"{kept.at}\n  silver {kept.row}\n  source {row}\n{record.text}"
        values += len(row.before) + len(row.after)
    return values


def row_of(kept: Kept, meaning: Meaning) -> Row:
    """Which of an event's rows a kept one has to be."""
    return meaning.rows[0 if kept.row.derived == "key_change" else -1]


class Known:
    """Which event has which identity, over any number of outcomes."""

    def __init__(self) -> None:
        self.of_event: dict[Hashable, tuple[str | None, LogPosition]] = {}
        self.of_id: dict[str | None, Hashable] = {}

    def hold(self, kept: Kept, meaning: Meaning) -> None:
        """One event has one identity and one dedup prefix wherever it was delivered, and no other event has it."""
        assert kept.log_position is not None
        prefix = kept.log_position[: kept.dedup_prefix]
        assert kept.dedup_prefix == meaning.stable, (kept, meaning)
        assert meaning.event_id in (None, kept.event_id), (kept, meaning)
        assert prefix == meaning.log_position[: meaning.stable], (kept, meaning)
        assert self.of_event.setdefault(meaning.name, (kept.event_id, prefix)) == (
            kept.event_id,
            prefix,
        ), (kept, meaning)
        assert self.of_id.setdefault(kept.event_id, meaning.name) == meaning.name, (kept, meaning)


def redelivery(drawn: Drawn, bronze: Cut, outcome: Outcome, known: Known) -> None:
    """Of all deliveries in a window the first counts, once; its identity is that of all of them, in all windows."""
    expected: dict[tuple[str, Hashable], Meaning] = {}
    for window, records in drawn.windows().items():
        for meaning in (
            meaning for record in records for meaning in record.meanings if meaning.reason is None
        ):
            first = expected.setdefault((window, meaning.name), meaning)
            if meaning.log_position < first.log_position:
                expected[window, meaning.name] = meaning
    found: Counter[tuple[str, Hashable, bool]] = Counter()
    for kept in outcome.rows:
        meaning = bronze.drawn[kept.at].meanings[kept.ordinal]
        if meaning.reason is not None:
            continue
        known.hold(kept, meaning)
        found[kept.at[0], meaning.name, kept.row.derived == "key_change"] += 1
        first = expected[kept.at[0], meaning.name]
        assert meaning.log_position == first.log_position, (kept, meaning, first)
    for (window, name), meaning in expected.items():
        came_late = drawn.is_covered(meaning) and not drawn.in_base(meaning)
        halves = [False] if len(meaning.rows) == 1 else [False, True]
        for is_old_half in halves:
            # The old half of a key change that came too late has no row of its own: the new half stands for both.
            wanted = 0 if came_late and is_old_half else 1
            assert found.pop((window, name, is_old_half), 0) == wanted, (window, meaning)
    assert not found, [*found][:5]


def spelled_apart(drawn: Drawn) -> int:
    """How many events were delivered in several spellings."""
    spellings: dict[Hashable, set[str]] = {}
    for _, record in drawn.records():
        for meaning in record.meanings:
            if meaning.reason is None:
                spellings.setdefault(meaning.name, set()).add(record.text)
    return sum(len(texts) > 1 for texts in spellings.values())


def totals(outcomes: Iterable[Outcome]) -> Counter[str]:
    """The accounts of several outcomes, added up."""
    found: Counter[str] = Counter()
    for outcome in outcomes:
        for account in outcome.accounts:
            found.update({name: account[name] for name in COUNTS})
    return found
