"""What a statement says of rows of ``triples``: images, the scopes of drops, and what makes two deliveries one event.

Put here how a statement's parts become columns. Not here: which of these an event has (``triples``).
"""

from __future__ import annotations

from transforms.event import Image
from transforms.formats.dgraph.commit_positions import CommitPosition
from transforms.formats.dgraph.statement import Statement


def scope_of(statement: Statement, operation: str | None) -> Image:
    """What a drop, or a delete of all values of a list, is for."""
    if operation == "drop_all":
        return {}
    if operation == "drop_data":
        return {"namespace": statement.namespace}
    if operation == "drop_predicate":
        return {"namespace": statement.namespace, "predicate": statement.attr}
    return {"namespace": statement.namespace, "uid": statement.uid, "predicate": statement.attr}


def image_of(statement: Statement, *, in_list: bool, has_value: bool) -> Image:
    """The key of the triple, and the value where it counts; a value that is lost is null."""
    value = None if statement.is_lost else statement.value
    image = {
        "namespace": statement.namespace,
        "uid": statement.uid,
        "predicate": statement.attr,
        "_weir_member": value or "" if in_list else "",
    }
    if has_value:
        image["value"] = value
        image["value_type"] = statement.value_type
    return image


def identity_of(statement: Statement, position: CommitPosition) -> tuple[str | None, ...]:
    """Commit, namespace, the event, and the how-manyth of its kind it is in the commit."""
    return (
        None if statement.commit_ts is None else str(statement.commit_ts),
        statement.namespace,
        statement.kind,
        statement.op,
        statement.uid,
        statement.attr,
        statement.value,
        statement.value_type,
        None if position.copy is None else str(position.copy),
    )
