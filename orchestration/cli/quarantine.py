"""``weir quarantine``: records that could not be taken, listed, shown, written out, or given up."""

from __future__ import annotations

import base64
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from textwrap import indent
from typing import Any

import click

from assets.control.decisions import signed
from assets.maintenance import repair
from assets.maintenance.repair import bronze_rows, contents_of, current_payload
from assets.picked_ids import PickedIds
from assets.quarantine import files, words
from assets.quarantine.files import Written
from assets.quarantine.records import Quarantine, QuarantinedRecord, Records, quarantine_of
from assets.quarantine.words import advice_of, landed_again, shown_in_full
from assets.wording import counted
from orchestration.cli import session
from orchestration.cli.options import BY, JSON, WHY, Place, in_place, with_picked_ids
from orchestration.console import put, put_json, put_json_text, put_lines


@click.group("quarantine")
def quarantine_command() -> None:
    """Work with the records that could not be taken: see what is wrong, repair them, replay them, or give them up."""


@quarantine_command.command("list", short_help="List records by the reason why they are there.")
@click.argument("feed")
@click.option("--reason", metavar="REASON", help="Only records with this reason.")
@click.option(
    "--state",
    type=click.Choice(["open", "repaired", "dismissed", "too late", "all"]),
    default="open",
    show_default=True,
    help="Only records in this state.",
)
@JSON
@in_place
def list_quarantine_command(
    place: Place, feed: str, reason: str | None, state: str, as_json: bool
) -> None:
    """List the quarantined records of FEED, by reason, each with its source location and the start of its payload."""
    list_records(place, feed, reason, state, as_json=as_json)


@quarantine_command.command("show", short_help="Show one record, what is wrong and what to do.")
@click.argument("feed")
@click.argument("id")
@JSON
@in_place
def show_quarantine_command(place: Place, feed: str, id: str, as_json: bool) -> None:
    """Show one record of FEED: payload, source location, state and reason, what to do, and what is read in its place.

    The beginning of the ID is enough.
    """
    show_record(place, feed, id, as_json=as_json)


@quarantine_command.command("export", short_help="Write records out, to be repaired in an editor.")
@click.argument("feed")
@click.argument("ids", nargs=-1)
@click.option("--reason", metavar="REASON", help="Only records with this reason.")
@click.option(
    "--to",
    type=click.Path(path_type=Path, file_okay=False),
    show_default="quarantine-<feed>",
    help="The folder to write to.",
)
@in_place
def export_quarantine_command(
    place: Place, feed: str, ids: tuple[str, ...], reason: str | None, to: Path | None
) -> None:
    """Write the open records of FEED, or those with these IDS, to a folder: a file for each, as it landed.

    A file source_locations.json beside them says which record each file is. Repair the files, and give the folder or
    single files to `weir quarantine replay`.
    """
    quarantine = opened(place, feed)
    chosen = quarantine.picked(PickedIds(ids)) if ids else quarantine.open
    chosen = chosen.where(reason=reason)
    if not chosen:
        put(f"{feed}: no such record is open in quarantine; nothing was written")
        return
    rows = bronze_rows(quarantine.lake, quarantine.feed, chosen)
    folder = to or Path(f"quarantine-{feed}")
    written = [
        Written(
            one,
            current_payload(one, rows[one.source_location]),
            rows[one.source_location]["header"],
        )
        for one in chosen
        if one.source_location in rows
    ]
    for path, one in zip(files.write_out(quarantine.feed, written, folder), written, strict=True):
        put(f"{path}  {one.record.where}  {one.record.reason}: {one.record.detail}")
    if gone := len(chosen) - len(written):
        put(f"{feed}: bronze no longer has {counted(gone, 'record')} of these")
    put(
        f"{feed}: {counted(len(written), 'record')} in {folder}, with their source locations in {files.SIDECAR}."
        f" Repair the files, then `weir quarantine replay {feed} {folder} --reason TEXT`"
    )


@quarantine_command.command("replay", short_help="Bring records through their windows once more.")
@with_picked_ids("All open records, as they are.", metavar="[WHAT]...")
@BY
@click.option("--later", is_flag=True, help="Only record it: the next `weir run` does the rest.")
@click.option(
    "--force", is_flag=True, help="Record also a payload that would be quarantined again."
)
def replay_quarantine_command(place: Place, feed: str, picked: PickedIds, **ways: Any) -> None:
    """Bring records of FEED through their windows once more: repaired files, or records as they are.

    WHAT: files or folders of `weir quarantine export`, of which those that you changed are recorded (that needs
    --reason) and read in place of the records in bronze; or ids of records that a changed feed file can take as they
    are. Exits with 1 if one of the records is still in quarantine afterwards.
    """
    from orchestration.cli import quarantine_replay

    sys.exit(quarantine_replay.replay(place, feed, picked, quarantine_replay.Ways(**ways)))


@quarantine_command.command("dismiss", short_help="Give up records that nobody can repair.")
@with_picked_ids("All open records.", f"{WHY}. Needed.")
@BY
def dismiss_quarantine_command(place: Place, feed: str, picked: PickedIds, by: str | None) -> None:
    """Dismiss the records of FEED with these IDS: nobody will repair them.

    They stay in quarantine and no longer hold compaction up or fail a check; `weir status` counts them. If the feed
    file is changed later so that such a record can be taken, it counts like any other. The beginning of an id is
    enough. All events of a record are dismissed together.
    """
    quarantine = opened(place, feed)
    signature = signed(quarantine.feed, picked.reason, by)
    given_up = quarantine.picked(picked)
    put_lines(repair.dismiss_records(quarantine.lake, quarantine.feed, given_up, signature))


SHOWN = 20
"""How many records of each reason are printed at most; ``--json`` has all."""


def list_records(place: Place, name: str, reason: str | None, state: str, *, as_json: bool) -> None:
    """Print the records of a feed's quarantine with a reason and a state, which may be ``all``."""
    quarantine = opened(place, name)
    found = quarantine.records.where(state=None if state == "all" else state, reason=reason)
    if as_json:
        for piece in as_json_list(found):
            put_json_text(piece)
        return
    put_lines(listed(quarantine, found, state))


def as_json_list(records: Records) -> Iterator[str]:
    """A JSON list of records, piece by piece: there may be very many."""
    last = len(records) - 1
    yield "["
    for number, one in enumerate(records):
        text = json.dumps(record_facts(one), indent=2, ensure_ascii=False)
        yield indent(text, "  ") + ("," if number < last else "")
    yield "]"


def listed(quarantine: Quarantine, found: Records, state: str) -> Iterator[str]:
    """The records in lines: how many there are by reason, and then the records."""
    feed = quarantine.feed
    what = "record" if state == "all" else f"{state} record"
    if not found:
        others = len(quarantine.records)
        rest = f"; `--state all` lists {counted(others, 'other')}" if others else ""
        yield f"{feed.name}: no {what} in quarantine{rest}"
        return
    groups = words.grouped(found)
    yield f"{feed.name}: {counted(len(found), what)} in quarantine"
    for group in groups:
        yield f"{len(group.records):>7,}  {group.reason or '(unknown)'}"
    shown = [one for group in groups for one in group.records[:SHOWN]]
    contents = contents_of(quarantine.lake, feed, shown)
    for group in groups:
        yield ""
        yield f"{group.reason}:"
        for one in group.records[:SHOWN]:
            yield f"  {words.record_line(one)}"
            if one.state != "open" or one.replacement:
                yield f"      {words.state_in_words(one)}"
            yield f"      {words.short(contents.get(one.source_location))}"
        if len(group.records) > SHOWN:
            yield f"  and {len(group.records) - SHOWN:,} more"
    if any(one.state == "open" for one in found):
        yield ""
        yield f"`weir quarantine show {feed.name} ID` shows one and says what to do about it"


def show_record(place: Place, name: str, id: str, *, as_json: bool) -> None:
    """Print all that is known of one record."""
    quarantine = opened(place, name)
    (record,) = quarantine.picked(PickedIds([id]))
    lake, feed = quarantine.lake, quarantine.feed
    row = bronze_rows(lake, feed, [record]).get(record.source_location)
    others = landed_again(lake, feed, record)
    if as_json:
        original = None if row is None else row["payload"]
        both = {"payload": _coded(original)}
        if record.replacement is not None:
            both["repaired_payload"] = _coded(record.replacement.payload)
        advice = advice_of(feed, record, others)
        more = record_facts(record) | both | ({"remedy": advice} if advice else {})
        put_json(more)
        return
    put_lines(shown_in_full(feed, record, row, others))


def record_facts(record: QuarantinedRecord) -> dict[str, Any]:
    """A record as plain JSON, without its payload."""
    object_name, generation, line, byte_offset = record.source_location
    decided = record.decided
    return {
        "id": record.id,
        "state": record.state,
        "window": record.window,
        "object": object_name,
        "generation": generation,
        "line": line,
        "byte_offset": byte_offset,
        "table": record.table,
        "reason": record.reason,
        "detail": record.detail,
        "events": record.events,
        "decided_at": decided.at.isoformat() if decided else None,
        "decided_by": decided.by if decided else None,
        "decision": decided.reason if decided else None,
        "has_repaired_payload": record.replacement is not None,
    }


def _coded(payload: bytes | None) -> str | dict[str, str] | None:
    if payload is None:
        return None
    try:
        return payload.decode()
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(payload).decode()}


def opened(place: Place, name: str) -> Quarantine:
    """The quarantine of the feed of that name; no session is started."""
    (feed,) = session.choose(place.feeds, [name])
    return quarantine_of(session.reached(place.warehouse, [feed]), feed)
