"""What an event of the stream says: a mutation of one triple or a drop, and the namespace in its key.

An event is the value of a Kafka record, which has the namespace as its key, or ``{"key": …, "value": {event}}`` as the
file sink writes it. Put here how an event of the stream is read. Not here: the namespace that its key tells
(``namespaces``), documents of an export (``exports``), and what an event does (``triples``).

Vendor: dgraph-io/dgraph v25.3.8, worker/cdc.go (toCDCEvent), worker/sink_handler.go.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from transforms.families.kafka_message import KafkaMessage
from transforms.families.whole_numbers import whole
from transforms.fault import Fault, shown
from transforms.formats.dgraph.canonical import checked
from transforms.formats.dgraph.namespaces import namespace, unknown_namespace
from transforms.formats.dgraph.statement import DROP, MUTATION, Statement
from transforms.json_values import as_text

_NOTHING: Final[Mapping[str, Any]] = {}


def event_statement(
    document: Mapping[str, Any], message: KafkaMessage, *, of_topic: bool, found: Fault | None
) -> Statement:
    """What a JSON object says as an event; ``found``: why it cannot be taken, where that is known already."""
    line, key = _in_line(document)
    meta, what = _object(line, "meta"), _object(line, "event")
    commit, kind, op = meta.get("commit_ts"), _word(line.get("type")), _word(what.get("operation"))
    # A negative one is a fault, and still tells the commit.
    commit_ts = whole(commit)
    key = key if message.key is None else message.key
    key_bytes = message.key_bytes if of_topic else None
    named = namespace(key, key_bytes, of_topic=of_topic)
    has_key = key is not None or key_bytes is not None
    if found is None:
        found = _lacking(commit, kind, op) or _no_timestamp(commit, commit_ts)
    if found is None and has_key and named is None:
        found = unknown_namespace(key, key_bytes)
    uid, value, value_type = None, None, _word(what.get("value_type"))
    attr = as_text(what.get("attr")) or None
    if kind == DROP:
        # The documentation calls the predicate of a drop ``pred``; no such record was ever seen. Mutations call it
        # ``attr``.
        attr = as_text(what.get("pred")) or attr
    else:
        uid, value = as_text(what.get("uid")), as_text(what.get("value"))
        uid, value, fault = checked(uid=uid, attr=attr, value=value, value_type=value_type)
        if found is None and kind == MUTATION:
            found = fault
    return Statement(
        "0" if named is None else named,
        commit_ts,
        kind,
        op,
        uid,
        attr,
        value,
        value_type,
        has_key,
        False,
        message.sent_at,
        found,
    )


def _in_line(document: Mapping[str, Any]) -> tuple[Mapping[str, Any], str | None]:
    """The event, and the key beside it, where it stands in a line as the file sink writes them."""
    inner = document.get("value")
    if type(inner) is dict and type(document.get("meta")) is not dict:
        return inner, as_text(document.get("key"))
    return document, None


def _object(parent: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    part = parent.get(name)
    return part if type(part) is dict else _NOTHING


def _word(value: Any) -> str | None:
    """A word in lower case, as most are anyway."""
    text = as_text(value)
    return None if text is None else text.lower()


def _lacking(commit: Any, kind: str | None, op: str | None) -> Fault | None:
    """What every event has and this one lacks."""
    if commit is not None and kind is not None and op is not None:
        return None
    parts = {"meta.commit_ts": commit, "type": kind, "event.operation": op}
    missing = ", ".join(name for name, given in parts.items() if given is None)
    return Fault("missing_field", f"the event lacks {missing}")


def _no_timestamp(commit: Any, commit_ts: int | None) -> Fault | None:
    if commit_ts is not None and commit_ts >= 0:
        return None
    return Fault(
        "unknown_position", f"meta.commit_ts is {shown(as_text(commit))}, which is no timestamp"
    )
