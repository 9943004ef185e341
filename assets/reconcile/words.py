"""A comparison in words: for people, in lines, and for programs."""

from __future__ import annotations

import json
import shlex
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Final

from assets.reconcile.compare import Behind, Compared, Reconciled
from assets.reconcile.repair import RepairPlan, by_table
from assets.wording import counted
from transforms.change import Key
from transforms.feed.feed import Feed
from transforms.reconcile.judgement import KINDS, Difference, Row

SAME, DIFFERS, NOT_PROVED = 0, 1, 2

STATES: Final = ("same", "differs", "behind", "not compared")
"""What may be found of a table; ``behind``: nothing can be told of some of its keys yet."""


def state_of(one: Compared) -> str:
    """What was found of a table: one of ``STATES``."""
    if one.reason is not None:
        return "not compared"
    if one.different:
        return "differs"
    return "behind" if one.behind or one.repeated or one.keyless or not one.is_whole else "same"


def exit_code(tables: Sequence[Compared]) -> int:
    """1 where a row differs, 2 where something could not be told, 0 where all is the same."""
    if any(one.different for one in tables):
        return DIFFERS
    return SAME if tables and {*map(state_of, tables)} == {"same"} else NOT_PROVED


def table_lines(feed: Feed, one: Compared, limit: int) -> Iterator[str]:
    """What there is to say of one table."""
    name = f"gold.{feed.name}.{one.table}"
    if one.reason is not None:
        yield f"{name}: not compared: {one.reason}"
        return
    yield f"{name}: {in_numbers(one)}"
    assert one.columns is not None
    for column, why in one.columns.left_out.items():
        yield f"  column {column} is not compared: {why}"
    if one.different:
        yield f"  gold is past the source's snapshot: {one.judged_by}"
    for difference in one.different[:limit]:
        yield from difference_lines(feed, one.table, difference)
    if (more := len(one.different) - limit) > 0:
        yield f"  and {counted(more, 'more key')} (--limit)"
    if one.behind:
        yield f"  nothing proves that gold is past the source's snapshot: {one.untold}"
    for behind in one.behind[: max(limit - len(one.different), 0)]:
        yield f"  behind: {key_in_words(one, behind.key)}"
        yield from both_rows(behind, shown_columns(behind))
    if one.repeated:
        rows = counted(one.repeated, "row")
        yield f"  {rows} cannot be compared: another row of the source, or of gold, has the same key"
    if one.erased:
        keys = counted(one.erased, "key was", "keys were")
        yield f"  {keys} erased, and the source still has the row: delete it there, too"
    if one.keyless:
        rows = counted(one.keyless, "row")
        yield f"  {rows} of the source have no key, for there is a null in it: gold can have none of them"
    if not one.is_whole:
        yield "  more keys differ than are looked at in one go"


def in_numbers(one: Compared) -> str:
    """How many rows were compared, and what became of the keys that differed."""
    said = [f"{counted(one.in_source, 'row')} in the source, {one.in_gold:,} in gold"]
    if one.different:
        kinds = Counter(difference.kind for difference in one.different)
        parts = ", ".join(f"{kinds[kind]:,} {kind}" for kind in KINDS if kinds[kind])
        said.append(f"{counted(len(one.different), 'key differs', 'keys differ')}: {parts}")
    if one.behind:
        said.append(f"{counted(len(one.behind), 'key')} behind")
    if one.caught_up:
        said.append(f"{counted(one.caught_up, 'key')} caught up meanwhile")
    if one.repeated:
        said.append(f"{counted(one.repeated, 'row')} with another row's key")
    if one.erased:
        said.append(f"{counted(one.erased, 'erased key')} in the source still")
    if one.keyless:
        said.append(f"{counted(one.keyless, 'row')} without a key")
    if state_of(one) == "same":
        said.append("the same")
    return "; ".join(said)


def key_in_words(one: Compared, key: Key) -> str:
    """The key as a person reads it."""
    assert one.columns is not None
    parts = zip(one.columns.key, key, strict=True)
    return ", ".join(f"{column.name} = {shown_text(text)}" for column, text in parts)


def difference_lines(feed: Feed, table: str, found: Difference) -> Iterator[str]:
    """A key that differs: in which way, both rows, and who says more."""
    columns = f" ({', '.join(found.columns)})" if found.columns else ""
    yield f"  {found.kind}{columns}: {KINDS[found.kind]}"
    yield from both_rows(found, [*shown_columns(found)])
    yield f"    {explain_line(feed, table, found.key)}"


def shown_columns(found: Difference | Behind) -> list[str]:
    """The columns of both rows that are shown: all, for a row is understood by what it says besides."""
    return [*(found.in_source or found.in_gold or {})]


def both_rows(found: Difference | Behind, columns: Sequence[str]) -> Iterator[str]:
    """The row of the source, and gold's."""
    for where, row in (("source", found.in_source), ("gold", found.in_gold)):
        yield f"    {where:<6} {row_in_words(row, columns)}"


def row_in_words(row: Row | None, columns: Sequence[str]) -> str:
    """A row in one line."""
    if row is None:
        return "no row"
    return ", ".join(f"{name} = {shown_text(row[name])}" for name in columns)


def shown_text(text: str | None) -> str:
    """A value as a person reads it: null apart from the text null."""
    return "null" if text is None else repr(text)


def explain_line(feed: Feed, table: str, key: Key) -> str:
    """What to type to read the key's story."""
    one_word = key[0] if len(key) == 1 and key[0] is not None else json.dumps(key)
    # What begins with a bracket is read as JSON, and what begins with a dash as an option.
    word = json.dumps(key) if one_word.startswith(("[", "-")) else one_word
    return f"weir explain {feed.name} {shlex.quote(table)} {shlex.quote(word)}"


_RECORDED: Final[Mapping[str, str]] = {
    "read": "the source's row",
    "update": "the columns that were read",
    "delete": "that there is no row",
}


def plan_lines(feed: Feed, plan: RepairPlan, limit: int) -> Iterator[str]:
    """What a repair would record, and what it would leave, table by table."""
    for table, repairs in by_table(plan.repairs).items():
        kinds = Counter(_RECORDED[one.row.operation] for one in repairs)
        parts = ", ".join(f"{kinds[what]:,} × {what}" for what in _RECORDED.values() if kinds[what])
        yield f"gold.{feed.name}.{table}: {counted(len(repairs), 'key')} to be recorded: {parts}"
        if unread := next((one.unread for one in repairs if one.unread), ()):
            yield (
                f"  not read, so that gold keeps what it has, which is null in a new row: {', '.join(unread)}"
            )
        for one in repairs[:limit]:
            yield from difference_lines(feed, table, one.found)
        if (more := len(repairs) - limit) > 0:
            yield f"  and {counted(more, 'more key')} (--limit)"
    for left in plan.left:
        of = "" if left.key is None else f", key {json.dumps(left.key, ensure_ascii=False)}"
        yield f"gold.{feed.name}.{left.table}{of}: not repaired: {left.why}"
    if plan.caught_up:
        yield f"{counted(plan.caught_up, 'key is', 'keys are')} the same by now"
    yield f"read in the source at {plan.place.text}"


def after_lines(feed: Feed, found: Reconciled, tables: Collection[str]) -> Iterator[str]:
    """What is known of repaired tables afterwards."""
    for one in found.tables:
        if one.table in tables:
            left = len(one.different) + len(one.behind)
            says = (
                counted(left, "key still differs", "keys still differ")
                if left
                else "as in the source"
            )
            again = f"the keys that differed were compared again: {says}"
            if one.reason is not None:
                again = f"the keys that differed could not be compared again: {one.reason}"
            # What still differs was left out of the repair, or has changed since: that is no repaired table.
            done = "recorded" if left else "repaired"
            yield f"gold.{feed.name}.{one.table}: {done}; {again}"


def plan_facts(plan: RepairPlan) -> Mapping[str, object]:
    """The same for programs."""
    return {
        "place": plan.place.text,
        "caught_up": plan.caught_up,
        "recorded": [
            {
                "table": one.table,
                "key": one.found.key,
                "kind": one.found.kind,
                "operation": one.row.operation,
                "unread": one.unread,
            }
            for one in plan.repairs
        ],
        "left": [asdict(one) for one in plan.left],
    }


def last_lines(found: Reconciled) -> Iterator[str]:
    """Where the source stood, and what to do about keys of which nothing can be told yet."""
    yield f"the source's log was at {found.place.text}; gold's newest change is {newest_in_words(found)}"
    if any(one.behind for one in found.tables):
        yield (
            "what is behind may only be under way: gold has not come past the snapshot. Call `weir run`, or compare"
            " again later; where the source is at rest, --idle says that nothing is under way"
        )


def newest_in_words(found: Reconciled) -> str:
    """Where gold's newest change stands."""
    if found.newest is None:
        return "none that stands by that log, so that nothing tells whether gold has come past the snapshot"
    return f"at {found.newest.text}"


def as_document(feed: Feed, found: Reconciled) -> Mapping[str, object]:
    """The same for programs."""
    return {
        "feed": feed.name,
        "ok": exit_code(found.tables) == SAME,
        "place": found.place.text,
        "newest": None if found.newest is None else found.newest.text,
        "tables": [table_facts(feed, one) for one in found.tables],
    }


def table_facts(feed: Feed, one: Compared) -> Mapping[str, object]:
    """One table for programs: all keys, whatever their number."""
    if one.reason is not None:
        return {"table": one.table, "state": state_of(one), "reason": one.reason}
    assert one.columns is not None
    return {
        "table": one.table,
        "state": state_of(one),
        "rows_in_source": one.in_source,
        "rows_in_gold": one.in_gold,
        "fetched": one.fetched,
        "caught_up": one.caught_up,
        "is_whole": one.is_whole,
        "repeated": one.repeated,
        "keyless": one.keyless,
        "erased": one.erased,
        "judged_by": one.judged_by,
        "untold": one.untold,
        "not_compared": dict(one.columns.left_out),
        "different": [
            asdict(each) | {"explain": explain_line(feed, one.table, each.key)}
            for each in one.different
        ],
        "behind": [asdict(each) for each in one.behind],
    }
