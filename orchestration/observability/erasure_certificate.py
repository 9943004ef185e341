"""The certificate of an erasure as a page and as JSON, kept in the warehouse's folder ``_erased``."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import Any, Final

from assets.erasure import record
from assets.erasure.certificate import certificate
from assets.erasure.steps import listed
from assets.storage import stored_text
from assets.storage.lake import Lake
from orchestration.observability.report.html_page import STYLE
from transforms.feed.feed import Feed

FOLDER: Final = "_erased"


def _places(lake: Lake, facts: Mapping[str, Any]) -> tuple[str, str]:
    root = f"{lake.warehouse.rstrip('/')}/{FOLDER}/{facts['feed']}/{facts['erasure']}"
    return f"{root}.json", f"{root}.html"


def store_missing(lake: Lake, feed: Feed) -> None:
    """Keep the certificates of finished erasures that are not kept: who finished them died, or was a run."""
    finished = [one for one in record.recorded(lake, feed) if one.finished_at is not None]
    if not finished:
        return
    kept = listed(f"{lake.warehouse.rstrip('/')}/{FOLDER}/{feed.name}")
    for one in finished:
        # The page is the last of the two files that are written.
        if f"{one.plan.id}.html" not in kept:
            store(lake, certificate(feed, one))


def store(lake: Lake, facts: Mapping[str, Any]) -> tuple[str, str]:
    """Keep a certificate; where its JSON and its page are."""
    places = _places(lake, facts)
    stored_text.store_text(places[0], json.dumps(facts, indent=2) + "\n", "application/json")
    stored_text.store_text(places[1], page_of(facts), stored_text.HTML)
    return places


def page_of(facts: Mapping[str, Any]) -> str:
    """The certificate for people, as one page."""
    of = f"{facts['feed']}.{facts['table']}" if facts["table"] else str(facts["feed"])
    told = {
        "Erasure": facts["erasure"],
        "Key, as a keyed hash": ", ".join(facts["key_hashes"]) or "those of earlier erasures",
        "Decided": f"{facts['decided_at']} by {facts['decided_by']}: {facts['reason']}",
        "Finished": facts["finished_at"] or "not yet",
        "Records of bronze": f"{facts['records']:,}, of {len(facts['windows']):,} windows",
        "Unreadable records that hold the key's text and were left": facts[
            "unreadable_records_left"
        ],
    }
    columns = ("table", "version_before", "version_after", "rows", "files_rewritten")
    parts = [
        f"<header><h1>Erased from {escape(of)}</h1></header><main>",
        *_table("What", [[name, value] for name, value in told.items()]),
        *_table(
            "Tables",
            [[one[name] for name in (*columns, "old_files_removed")] for one in facts["tables"]],
            (
                *("table", "version before", "version after", "rows", "files written anew"),
                "older files removed",
            ),
        ),
        *_table(
            "Objects of the landing that still hold the records",
            [[one["object"], one["records"]] for one in facts["landing"]],
            ("object", "records"),
        ),
        *_table("What was not reached", [[one] for one in facts["not_reached"]]),
        "</main>",
    ]
    return (
        "<!DOCTYPE html>\n<html lang='en'><head><meta charset='utf-8'>"
        "<meta name='viewport' content='width=device-width, initial-scale=1'>"
        f"<title>{escape(of)}: erasure {escape(facts['erasure'])}</title><style>{STYLE}</style></head>\n<body>\n"
        + "\n".join(parts)
        + "\n</body></html>\n"
    )


def _table(
    title: str, rows: Sequence[Sequence[object]], names: Sequence[str] = ()
) -> Iterator[str]:
    yield f"<section><h2>{escape(title)}</h2><div class='wide'><table>"
    if names:
        yield f"<tr>{''.join(f'<th>{escape(one)}</th>' for one in names)}</tr>"
    for row in rows:
        yield f"<tr>{''.join(f'<td>{escape(str(one))}</td>' for one in row)}</tr>"
    if not rows:
        yield "<tr><td>none</td></tr>"
    yield "</table></div></section>"
