"""``weir explain``: why a row is as it is, told event by event for a person to read."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from assets.audit.explain import explained
from assets.audit.explanation import Delivery, Explanation, Step
from assets.bookkeeping import discovered_tables
from assets.gold import gold_tables
from assets.wording import counted
from orchestration.cli import session
from orchestration.cli.options import Place
from orchestration.cli.session import choose
from orchestration.console import waiting
from orchestration.feeds.faults import nearest
from transforms.errors import UnknownKey
from transforms.feed.feed import Table

Image = Mapping[str, str | None]


def explain(place: Place, feed_name: str, table_name: str, key: str) -> int:
    """Print the story of one key; returns the exit code: 0, or 1 where nothing is known of it."""
    (feed,) = choose(place.feeds, [feed_name])
    lake = session.reached(place.warehouse)
    tables = gold_tables.mirrors(lake, feed)
    if stopped := discovered_tables.stopped(lake, feed).get(table_name):
        raise stopped.fault
    if table_name not in tables:
        hint = nearest(table_name, tables)
        raise UnknownKey(
            f"feed {feed.name} has no gold table {table_name!r}{hint}; it has {', '.join(tables) or 'none yet'}"
        )
    table = tables[table_name]
    parts = parsed(key, table)
    with waiting("reading the key's history"):
        found = explained(lake, feed, table, table_name, parts)
    print("\n".join(told(f"gold.{feed.name}.{table_name}", table, found)))
    return 0 if known(found) else 1


def known(found: Explanation) -> bool:
    """True where anything is known of the key."""
    has_base = found.base is not None and found.base.row is not None
    of_key = [one for one in found.ignored if one.reason != "held"]
    return bool(found.steps or found.waiting or of_key) or has_base


def parsed(key: str, table: Table) -> list[str | None]:
    """The key's parts: a JSON array, or texts with commas between them."""
    if key.startswith("["):
        try:
            parts = json.loads(key)
        except ValueError as fault:
            raise UnknownKey(f"the key {key} is no JSON array: {fault}") from None
        texts = [
            part if part is None or isinstance(part, str) else json.dumps(part) for part in parts
        ]
    else:
        texts = list(key.split(",")) if len(table.identity) > 1 else [key]
    if len(texts) != len(table.identity):
        raise UnknownKey(
            f"the key has {counted(len(table.identity), 'part')} ({', '.join(table.identity)}), and {key!r} gives"
            f" {len(texts)}; write them with commas between, or as a JSON array"
        )
    return texts


def told(name: str, table: Table, found: Explanation) -> list[str]:
    """The story, line by line."""
    named = ", ".join(
        f"{column} = {shown(part)}" for column, part in zip(table.identity, found.key, strict=True)
    )
    lines = [f"{name}, {named}"]
    row: Image | None = None
    copies = 0
    if found.base is not None:
        row, copies = found.base.row, found.base.copies
        at = "/".join(map(str, found.base.horizon))
        what = "no row" if row is None else summed_up(row, copies, table)
        lines += ["", f"   0  all events up to position {at} are compacted; they left {what}"]
    if not known(found):
        return [*lines, "  No event of this key is known."]
    for number, step in enumerate(found.steps, start=1):
        lines += ["", headline(number, step)]
        lines += [f"      {line}" for line in what_it_did(step, row, copies, table)]
        lines += [f"      {line}" for line in notes(step, found.steps[number:])]
        row, copies = step.row, step.copies
    for change in found.waiting:
        lines += [
            "",
            f"   …  {change.operation}, waits for the commit of transaction {change.transaction}",
        ]
        lines.append(f"      {place(change.delivery)}")
    for event in found.ignored:
        lines += ["", f"   …  does not count ({event.reason}): {event.detail}"]
        lines.append(f"      {place(event.delivery)}")
    return [
        *lines,
        "",
        "So gold has " + ("no row." if row is None else summed_up(row, copies, table)),
    ]


def headline(number: int, step: Step) -> str:
    """What the source did, and where it stands in the source's order."""
    what = step.operation
    if step.scope is not None:
        of = ", ".join(f"{name} = {shown(text)}" for name, text in sorted(step.scope.items()))
        what += f" of everything{' with ' + of if of else ' in the table'}"
    if step.derived and step.derived != "epoch":
        what += f", which follows from another event ({step.derived})"
    at = f"  {step.event_at:%Y-%m-%d %H:%M:%S}" if step.event_at else ""
    return f"{number:>4}  {what}{at}  at position {'/'.join(map(str, step.position))}"


def what_it_did(step: Step, before: Image | None, copies: int, table: Table) -> list[str]:
    """What the row was, and what it became."""
    if not step.counted:
        return ["changed nothing: there was no row for it to change"]
    if not table.key:
        return [f"{counted(copies, 'copy', 'copies')} before, {step.copies:,} after"]
    if step.row is None:
        return [
            "the row is gone"
            if before is not None
            else "there was no row; none older can come back"
        ]
    became = changes(before or {}, step, table)
    if before is None:
        start = "a new row" + (
            f", moved here from {list(step.moved_from)}" if step.moved_from else ""
        )
        return [f"{start}:", *became]
    return became or ["no column changed"]


def changes(before: Image, step: Step, table: Table) -> list[str]:
    """One line per column that is not what it was, or that the event named."""
    assert step.row is not None
    lines = []
    for column in table.columns:
        if column in table.key:
            continue
        old, new = before.get(column), step.row.get(column)
        operation = step.attribute_ops.get(column)
        if operation:
            lines.append(
                f"{column}: {shown(old)} {operation} {shown(step.after_image.get(column))} = {shown(new)}"
            )
        elif old != new:
            lines.append(
                f"{column}: {shown(old)} -> {shown(new)}"
                if column in before
                else f"{column}: {shown(new)}"
            )
    return lines


def notes(step: Step, following: Sequence[Step]) -> list[str]:
    """Where the event came from, what of it was ignored, and what a reader should know.

    Windows are all that is known of when an event came: repeats within one are in its accounts, not in silver.
    """
    first, *others = step.deliveries
    lines = [place(first)]
    if earlier := [one for one in following if one.deliveries[0].window < first.window]:
        lines.append(
            f"came late, after {counted(len(earlier), 'event')} of earlier windows; it counts at its place"
        )
    if others:
        lines.append(f"came again, and counts once: also {'; '.join(map(place, others))}")
    if step.is_tied:
        lines.append(
            "another event of this key stands at the same position; their order is made from their content"
        )
    return lines


def place(delivery: Delivery) -> str:
    """A delivery's bronze coordinates; a decision stands in no line of an object."""
    line = f" line {delivery.line}" if delivery.line else ""
    return f"{delivery.object}{line}, window {delivery.window}"


def summed_up(row: Image, copies: int, table: Table) -> str:
    """The row in one line."""
    if not table.key:
        return f"{counted(copies, 'copy', 'copies')} of the row."
    return "this row: " + ", ".join(
        f"{name} = {shown(row.get(name))}" for name in table.columns if name not in table.key
    )


def shown(text: str | None) -> str:
    """A value as a person reads it: null apart from the text null."""
    return "null" if text is None else repr(text)
