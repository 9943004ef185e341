"""What must be true of a window's changes, and what to do about a record in quarantine."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from expectations.rule import Rule
from transforms.formats import FORMATS

ACCOUNTING_IS_EXACT = Rule(
    "accounting_is_exact",
    "blocking",
    "Every source event is a change, a control row, a duplicate, quarantined, held, too late or erased, and the tables"
    " hold what was counted.",
    "Run the window again; if it stays, report it: an event would be lost or counted twice.",
    is_fixed=True,
)
NO_NULL_KEY = Rule(
    "no_null_key",
    "blocking",
    "Every change of a declared table has its whole key.",
    "Report it: such an event belongs into quarantine.",
    is_fixed=True,
)
POSITION_RISES_WITH_SOURCE_TIME = Rule(
    "position_rises_with_source_time",
    "blocking",
    "The source's log position never falls while its time rises.",
    "The log was reset, or the source was restored or replaced, so that order is unknown: say where the new history"
    " begins with the line that is shown, or with `weir epoch open <feed> --window WINDOW --time TIME` (the first"
    " window, and the first time, of the log file that fell), and run again. `--snapshot complete` says that it begins"
    " with a snapshot of all rows.",
)
SNAPSHOTS_ARE_IN_ORDER = Rule(
    "snapshots_are_in_order",
    "failing",
    "No snapshot came after changes of its table without saying where it was read, and whether it is complete.",
    "What does not say where it was read stands before all changes and heals nothing; what does not say that it"
    " is complete removes nothing. If it is a second snapshot, the line above says so; `--snapshot complete`"
    " lets it remove what it does not name. TIME is when that snapshot was asked for, or the connector was started"
    " that took it. If it is the first one, and only late, nothing is wrong.",
)
NO_EVENT_TWICE = Rule(
    "no_event_twice",
    "warning",
    "No event was delivered twice within its window, or once more after its history was compacted.",
    "They count once. An extractor that begins again sends what it had sent, and a file that is written again has what"
    " it had; a compacted window that is run again consists of repeats alone.",
)
NOTHING_QUARANTINED = Rule(
    "nothing_quarantined",
    "warning",
    "Every record could be read and fits the feed's declaration.",
    "List the records with `weir quarantine list <feed>`. Repair the feed file, or write the records out, repair them"
    " and replay them (`weir quarantine export <feed>`, `weir quarantine replay <feed>`), or give them up with"
    " `weir quarantine dismiss <feed>`.",
)
MOST_EVENTS_ARE_TAKEN = Rule(
    "most_events_are_taken",
    "failing",
    "No table had half or more of a run's events quarantined, from 20 of them on.",
    "That is seldom the data and mostly the feed file: a type, a key or a table's name that was declared wrong."
    " `weir quarantine list <feed>` says what did not fit. Nothing is lost: what is in quarantine is taken when the"
    " declaration fits it.",
)
TABLES_ARE_DECLARED = Rule(
    "tables_are_declared",
    "warning",
    "Every table in the stream is declared, so that its changes reach gold.",
    "Declare key and columns in the feed file; the changes wait in silver until then.",
)
COLUMNS_ARE_DECLARED = Rule(
    "columns_are_declared",
    "warning",
    "Every column that changes of declared tables mention is declared, so that its values reach gold.",
    "Add the column and its type to the feed file, or its earlier name under `renamed`; its values wait in silver"
    " until then.",
)

NOTHING_TOO_LATE = Rule(
    "nothing_too_late",
    "warning",
    "No event arrived after the history it belongs to had been compacted.",
    "Such events are in quarantine.<feed>. Keep history longer (`compaction: {retention: ...}` in the feed file);"
    " `weir rebuild <feed>` takes in what came too late.",
)

MOST_EVENTS_ARE_IN_TIME = Rule(
    "most_events_are_in_time",
    "failing",
    "In no table did most of a window's events, or all of its new ones, arrive after the history they belong to had"
    " been compacted.",
    "Either a position that is far too high was compacted with it, or an old part of the source came for the first"
    " time. All of it is in quarantine.<feed>: `weir rebuild <feed>` takes it in.",
)

NOTHING_HELD = Rule(
    "nothing_held",
    "warning",
    "No truncate, and no drop of a table or a column, waits for a decision.",
    "The feed says `range_deletes: hold` or `drop_column: hold`: `weir release <feed>` lists what waits and lets it"
    " act.",
)
EVERY_TRANSACTION_IS_COMMITTED = Rule(
    "every_transaction_is_committed",
    "warning",
    "Every transaction of which a change was read is complete.",
    "Its changes wait in silver and reach gold when the rest of it comes; nothing is lost.",
)
NO_TRANSACTION_IS_OVERDUE = Rule(
    "no_transaction_is_overdue",
    "warning",
    "No transaction has been open for longer than the feed's `transaction_timeout`.",
    "The transaction is reported as never_committed: look for its commit at the source. Should it come, the changes"
    " still reach gold.",
)

NO_CONFLICTING_PAYLOADS = Rule(
    "no_conflicting_payloads",
    "warning",
    "No two events of a window say different things of one key at one log position.",
    "One of them was altered on its way, or two sources write into one landing: compare the two records. Both were"
    " applied, in an order made from their content.",
)
NO_ERASED_KEY_LANDS_AGAIN = Rule(
    "no_erased_key_lands_again",
    "warning",
    "No event of an erased key is in bronze: what `weir erase` has taken out has not landed again.",
    "It reaches neither silver nor gold. `weir erase <feed> --again` takes it out of bronze, too; remove it from the"
    " landing, and from whatever writes there. Where it was a late change of the erased key into another, the other"
    " key's row may lack what that change said: `weir reconcile <feed>` names it. If the key is to come back:"
    " `weir erase <feed> TABLE KEY --lift`.",
)
IS_FRESH = Rule(
    "is_fresh",
    "warning",
    "When a window ends, its newest event is no older than the feed's `checks: {is_fresh: {within: ...}}` says.",
    "The extractor lags behind, or the source was quiet before the window's end. Whether windows come at all is not"
    " asked here: `weir status --max-age` says it.",
    is_asked=False,
)

COMMON = (
    ACCOUNTING_IS_EXACT,
    NO_NULL_KEY,
    POSITION_RISES_WITH_SOURCE_TIME,
    SNAPSHOTS_ARE_IN_ORDER,
    NO_EVENT_TWICE,
    NOTHING_QUARANTINED,
    MOST_EVENTS_ARE_TAKEN,
    TABLES_ARE_DECLARED,
    COLUMNS_ARE_DECLARED,
    NOTHING_TOO_LATE,
    MOST_EVENTS_ARE_IN_TIME,
    NOTHING_HELD,
    EVERY_TRANSACTION_IS_COMMITTED,
    NO_TRANSACTION_IS_OVERDUE,
    NO_CONFLICTING_PAYLOADS,
    NO_ERASED_KEY_LANDS_AGAIN,
    IS_FRESH,
)
"""The rules of every format."""


def rules_of(format_name: str) -> tuple[Rule, ...]:
    """The rules of one format: those of all, and one for each thing that it may notice in events."""
    own = FORMATS[format_name].warnings
    return (*COMMON, *[Rule(one.rule, "warning", one.says, one.remedy) for one in own])


# What to do about a record in quarantine, by the reason why it is there.


REPAIR: Final = (
    "Write the record out (`weir quarantine export <feed> <id>`), repair it in an editor, and replay the file"
    " (`weir quarantine replay <feed> <file> --reason TEXT`)."
)
GIVE_UP: Final = "If nobody can repair it: `weir quarantine dismiss <feed> <id> --reason TEXT`."
DECLARE: Final = "If the declaration is wrong, repair the feed file and run `weir quarantine replay <feed> <id>`;"

_DAMAGED: Final = (
    "Do what the detail says. Where the landing has the object cut short or damaged, land it again whole: Weir reads it"
    " beside this one, and this record can be dismissed. Or repair this record alone."
)
_DECLARED: Final = f"{DECLARE} if the record is wrong, repair the record."

REMEDIES: Final[Mapping[str, str]] = {
    "damaged_record": _DAMAGED,
    "error_response": "The source answered with an error: look for its cause there. There is no event to repair.",
    "invalid_utf8": "If its file is in another encoding, say which in the feed file (`encoding: windows-1252`), and"
    " land the file again under another name.",
    "missing_key": _DECLARED,
    "operation_does_not_fit": _DECLARED,
    "too_late": "Its history is compacted. `weir rebuild <feed>` takes it in; nothing else has to be decided.",
    "undeclared_end": _DECLARED,
    "unknown_namespace": _DECLARED,
    "unknown_type": _DECLARED,
    "value_does_not_fit": _DECLARED,
    "wrong_column_count": _DECLARED,
}


def remedy(reason: str, feed: str, record: str = "ID") -> str:
    """What to do about a record with this reason, with the names that its commands need."""
    own = REMEDIES.get(reason, "")
    rest = "" if reason == "too_late" else f"{REPAIR} {GIVE_UP}"
    text = " ".join(filter(None, (own, rest)))
    return text.replace("<feed>", feed).replace("<id>", record).replace("<file>", "FILE")
