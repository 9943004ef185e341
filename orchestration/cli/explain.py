"""``weir explain``: why a row is as it is, event by event."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Final

import click

from assets.audit.explain import Delivery, KeyStory, Step, explained
from assets.control import decisions, discovered_tables
from assets.gold import tables as gold_tables
from assets.wording import counted
from orchestration.cli import session
from orchestration.cli.options import JSON, Place, in_place_by
from orchestration.console import put_json, put_lines, waiting
from transforms.errors import UnknownKey
from transforms.feed.feed import Table
from transforms.near_names import did_you_mean


@click.command("explain")
@click.argument("feed")
@click.argument("table")
@click.argument("key", nargs=-1, required=True)
@in_place_by
@JSON
def explain_command(
    feed: str, table: str, key: tuple[str, ...], place: Place, as_json: bool
) -> None:
    """Say why a row is as it is: the events of its KEY in order, and what each of them did.

    A key of several columns is several words, or one with commas between them, or a JSON array:

        weir explain shop orders 42
    """
    one_word = key[0] if len(key) == 1 else json.dumps(key)
    sys.exit(explain(place, feed, table, one_word, as_json))


def explain(place: Place, feed_name: str, table_name: str, key: str, as_json: bool = False) -> int:
    """Print the story of one key; returns the exit code: 0, or 1 where nothing is known of it."""
    feed, lake = session.reached_feed(place, feed_name)
    tables = gold_tables.mirrors(lake, feed)
    if stopped := discovered_tables.made_and_stopped(lake, feed).stopped.get(table_name):
        raise stopped.fault
    if table_name not in tables:
        hint = did_you_mean(table_name, tables)
        raise UnknownKey(
            f"feed {feed.name} has no gold table {table_name!r}{hint}; it has {', '.join(tables) or 'none yet'}"
        )
    table = tables[table_name]
    parts = key_parts(key, table)
    with waiting("reading the key's history"):
        key_story = explained(lake, feed, table, table_name, parts)
    name = f"gold.{feed.name}.{table_name}"
    if as_json:
        put_json({"table": name} | asdict(key_story), indent=None)
    else:
        put_lines(story_lines(name, table, key_story))
        declared = decisions.with_recorded(lake, feed)
        if gold_tables.is_behind(lake, declared, table, table_name):
            put_lines(
                [f"{name} itself {NOT_AS_DECLARED}: `weir run --feed {feed.name}` makes it so."]
            )
    return 0 if is_anything_known(key_story) else 1


def key_parts(key: str, table: Table) -> list[str | None]:
    """The parts of a key that was typed as a JSON array, or as texts with commas between them."""
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


Image = Mapping[str, str | None]

NOT_AS_DECLARED: Final = (
    "is missing, or was made under another declaration than the feed file has now"
)


def story_lines(name: str, table: Table, key_story: KeyStory) -> list[str]:
    """The whole story: what compaction left, what each event did, what does not count, and the row that is there."""
    named = ", ".join(
        f"{column} = {shown_value(part)}"
        for column, part in zip(table.identity, key_story.key, strict=True)
    )
    lines = [f"{name}, {named}"]
    row: Image | None = None
    copies, is_deleted = 0, False
    if (base := key_story.base) is not None:
        row, copies, is_deleted = base.row, base.copies, base.is_deleted
        at = "/".join(map(str, base.compaction_watermark))
        what = "no row" if row is None else summed_up(row, copies, table, is_deleted=is_deleted)
        lines += ["", f"   0  all events up to position {at} are compacted; they left {what}"]
    if not is_anything_known(key_story):
        return [*lines, "  No event of this key is known."]
    for number, step in enumerate(key_story.steps, start=1):
        lines += ["", headline(number, step)]
        before = None if is_deleted and not step.is_deleted else row
        lines += [f"      {line}" for line in what_it_did(step, before, copies, table)]
        lines += [f"      {line}" for line in delivery_notes(step, key_story.steps[number:])]
        row, copies, is_deleted = step.row, step.copies, step.is_deleted
    for change in key_story.waiting:
        lines += [
            "",
            f"   …  {change.operation}, waits for the commit of transaction {change.transaction}",
        ]
        lines.append(f"      {location_of_delivery(change.delivery)}")
    for event in key_story.ignored:
        lines += ["", f"   …  does not count ({event.reason}): {event.detail}"]
        lines.append(f"      {location_of_delivery(event.delivery)}")
        lines += [f"      {event.delivery.repaired}"] if event.delivery.repaired else []
    return [
        *lines,
        "",
        "So gold has "
        + ("no row." if row is None else summed_up(row, copies, table, is_deleted=is_deleted)),
    ]


def headline(number: int, step: Step) -> str:
    """What the source did, and where it stands in the source's order."""
    what = step.operation
    if step.scope is not None:
        of = ", ".join(f"{name} = {shown_value(text)}" for name, text in sorted(step.scope.items()))
        what += f" of everything{' with ' + of if of else ' in the table'}"
    if step.derived and step.derived != "epoch":
        what += f", which follows from another event ({step.derived})"
    at = f"  {step.event_at:%Y-%m-%d %H:%M:%S}" if step.event_at else ""
    return f"{number:>4}  {what}{at}  at position {'/'.join(map(str, step.log_position))}"


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
    if step.is_deleted:
        return ["the row is marked as deleted, with the values that it had"]
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
            operand = shown_value(step.after_image.get(column))
            lines.append(f"{column}: {shown_value(old)} {operation} {operand} = {shown_value(new)}")
        elif old != new:
            lines.append(
                f"{column}: {shown_value(old)} -> {shown_value(new)}"
                if column in before
                else f"{column}: {shown_value(new)}"
            )
    return lines


def delivery_notes(step: Step, following: Sequence[Step]) -> list[str]:
    """Where the event came from, whether it came late or again, and whether another has the same position.

    Windows are all that is known of when an event came: repeats within one are in its accounts, not in silver.
    """
    first, *others = step.deliveries
    lines = [
        location_of_delivery(first),
        *[one.repaired for one in step.deliveries if one.repaired],
    ]
    if earlier := [later for later in following if later.deliveries[0].window < first.window]:
        lines.append(
            f"came late, after {counted(len(earlier), 'event')} of earlier windows; it counts at its log position"
        )
    if others:
        lines.append(
            f"came again, and counts once: also {'; '.join(map(location_of_delivery, others))}"
        )
    if step.is_tied:
        lines.append(
            "another event of this key stands at the same position; their order is made from their content"
        )
    return lines


def location_of_delivery(delivery: Delivery) -> str:
    """Where a delivery is in bronze; a decision of a person is in no line of an object."""
    line = f" line {delivery.line}" if delivery.line else ""
    return f"{delivery.object}{line}, window {delivery.window}"


def summed_up(row: Image, copies: int, table: Table, *, is_deleted: bool = False) -> str:
    """The row in one line."""
    if not table.key:
        return f"{counted(copies, 'copy', 'copies')} of the row."
    mark = ", marked as deleted" if is_deleted else ""
    return f"this row{mark}: " + ", ".join(
        f"{name} = {shown_value(row.get(name))}" for name in table.columns if name not in table.key
    )


def shown_value(text: str | None) -> str:
    """A value as a person reads it: null apart from the text null."""
    return "null" if text is None else repr(text)


def is_anything_known(key_story: KeyStory) -> bool:
    """True where there is a base row or an event of the key, held deletes apart: these are of whole tables."""
    has_base = key_story.base is not None and key_story.base.row is not None
    of_key = [event for event in key_story.ignored if event.reason != "held"]
    return bool(key_story.steps or key_story.waiting or of_key) or has_base
