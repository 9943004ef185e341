"""``weir quarantine export``: records of quarantine written out as files, to be repaired in an editor.

Put here which records are written out, and what is printed. Not here: the files
(``assets/bookkeeping/quarantine/files``).
"""

from __future__ import annotations

from pathlib import Path

from assets.bookkeeping.choice import Choice
from assets.bookkeeping.quarantine import files
from assets.bookkeeping.quarantine.files import Written
from assets.upkeep.repairing import bronze_rows, current_payload
from assets.wording import counted
from orchestration.cli.options import Place
from orchestration.cli.quarantine.opened import opened
from orchestration.console import put


def export(place: Place, name: str, choice: Choice, of_reason: str | None, to: Path | None) -> None:
    """Write the chosen records out, or all open ones; print each file's name and what is wrong with the record."""
    quarantine = opened(place, name)
    feed = quarantine.feed
    chosen = quarantine.picked(choice) if choice.ids else quarantine.open
    chosen = chosen.where(reason=of_reason)
    if not chosen:
        put(f"{feed.name}: no such record is open in quarantine; nothing was written")
        return
    rows = bronze_rows(quarantine.lake, feed, chosen)
    folder = to or Path(f"quarantine-{feed.name}")
    written = [
        Written(
            one,
            current_payload(one, rows[one.source_location]),
            rows[one.source_location]["header"],
        )
        for one in chosen
        if one.source_location in rows
    ]
    for path, one in zip(files.write_out(feed, written, folder), written, strict=True):
        fault = f"{one.record.reason}: {one.record.detail}"
        put(f"{path}  {one.record.where}  {fault}")
    if gone := len(chosen) - len(written):
        put(f"{feed.name}: bronze no longer has {counted(gone, 'record')} of these")
    put(
        f"{feed.name}: {counted(len(written), 'record')} in {folder}, with their source locations in {files.SIDECAR}."
        f" Repair the files, then `weir quarantine replay {feed.name} {folder} --reason TEXT`"
    )
