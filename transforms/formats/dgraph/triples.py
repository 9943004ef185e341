"""What a statement does to the triples: sets, deletes and drops as events of the one table that gold has.

Put here what each statement changes, and when an event has a warning. Not here: reading a statement (``events``,
``exports``), its images (``images``), and where it stands in its commit (``commit_positions``).

Vendor: dgraph-io/dgraph v25.3.8, posting/index.go (addMutationHelper), worker/cdc.go (toCDCEvent).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from transforms.change import EPOCH, STREAM
from transforms.event import Event, Image
from transforms.fault import Fault, shown
from transforms.feed.feed import Feed
from transforms.formats.dgraph.commit_positions import CommitPosition
from transforms.formats.dgraph.exports.documents import RESERVED
from transforms.formats.dgraph.images import identity_of, image_of, scope_of
from transforms.formats.dgraph.statement import DROP, EXPORT, OPERATIONS, Statement
from transforms.formats.dgraph.table import TRIPLES

DEDUP_PREFIX: Final = 3
"""Epoch, phase and timestamp of the commit: deliveries may differ in the position within it."""

_REMOVING: Final = ("drop_all", "drop_data", "drop_predicate")


def events_of(feed: Feed) -> Callable[[Statement, CommitPosition], Event]:
    """The function that says what a statement at its position does."""
    lists = {one.name: one.list for one in feed.predicates.values()}

    def event(statement: Statement, position: CommitPosition) -> Event:
        return _event(
            statement, position, None if statement.attr is None else lists.get(statement.attr)
        )

    return event


def _event(statement: Statement, position: CommitPosition, listed: bool | None) -> Event:
    """The event; ``listed``: whether the predicate is declared as a list, None where it is not declared."""
    operation = (
        None
        if statement.kind is None or statement.op is None
        else OPERATIONS.get((statement.kind, statement.op))
    )
    fault = statement.fault or _fault(statement, operation)
    is_noted, is_star, in_list = _becomes_note(statement, operation), statement.is_star, listed
    if listed is None and not is_star:
        # Dgraph makes a predicate that its schema lacks a list for edges, and a single value for all else.
        in_list = statement.value_type == "uid"
    effect = "remove"
    if is_noted:
        effect = "note"
    elif operation in ("set", "read"):
        effect = "replace"
    elif operation == "del" and not is_star and not in_list:
        effect = "remove_if"
    before: Image = {}
    after: Image = {}
    scope: Image | None = None
    warnings: tuple[str, ...] = ()
    if fault is None:
        warnings = _warnings(statement, position, operation, listed, is_noted=is_noted)
        if statement.kind == DROP or (is_star and in_list is not False):
            scope = None if is_noted else scope_of(statement, operation)
        elif effect == "replace":
            after = image_of(statement, in_list=bool(in_list), has_value=True)
        elif not is_noted:
            before = image_of(statement, in_list=bool(in_list), has_value=effect == "remove_if")
    return Event(
        operation=operation,
        effect=effect,
        name=TRIPLES,
        before=before,
        after=after,
        scope=scope,
        log_position=None
        if statement.commit_ts is None
        else (EPOCH, STREAM, statement.commit_ts, *position.within),
        dedup_prefix=DEDUP_PREFIX,
        identity=identity_of(statement, position),
        extracted_at=statement.sent_at,
        warnings=warnings,
        fault=fault,
    )


def _fault(statement: Statement, operation: str | None) -> Fault | None:
    """Why a statement that can be read cannot be taken all the same."""
    if operation is None:
        return Fault(
            "unknown_operation",
            f"{shown(statement.kind)} {shown(statement.op)} is not known; known: mutation set, del, ovr;"
            " drop all, data, predicate, attribute, type",
        )
    if operation == "drop_predicate" and statement.attr is None:
        return Fault("missing_field", "the drop of a predicate lacks event.pred")
    if operation == "del" and statement.is_lost:
        return Fault(
            "value_lost",
            f"a delete of one value of {shown(statement.attr)}, which is a {statement.value_type}: Dgraph writes it as"
            " {}, so that nothing tells which value, or whether it was there",
        )
    return None


def _becomes_note(statement: Statement, operation: str | None) -> bool:
    """Whether the statement becomes a note, because it changes no triple.

    So do a dropped type, a masked password, and, in an export, one of Dgraph's own predicates.
    """
    if operation == "drop_type" or statement.value_type == "password":
        return True
    return (
        statement.kind == EXPORT
        and statement.attr is not None
        and statement.attr.startswith(RESERVED)
    )


def _warnings(
    statement: Statement,
    position: CommitPosition,
    operation: str | None,
    listed: bool | None,
    *,
    is_noted: bool,
) -> tuple[str, ...]:
    """What is worth knowing of the event (``warnings`` says it in sentences)."""
    found = []
    is_triple = statement.kind != DROP
    is_set = operation in ("set", "read")
    if not statement.has_key and operation != "drop_all":
        found.append("no_namespace")
    if listed is None and is_triple and not is_noted:
        found.append("undeclared_predicate")
    if (
        position.sets > 1
        and is_set
        and not listed
        and statement.value_type in ("string", "default")
    ):
        found.append("ambiguous_language")
    if position.is_behind and operation in _REMOVING:
        found.append("drop_behind")
    if is_set and statement.is_lost:
        found.append("value_lost")
    if is_triple and statement.value_type == "password":
        found.append("password_masked")
    if statement.has_facets and not is_noted:
        found.append("facets_left_out")
    return tuple(found)
