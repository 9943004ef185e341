"""The places of row messages within their response: in the batch of one op id, and among neighbours.

One op id may cover a whole batch of rows: the place in the batch orders them, and what they say tells them apart.
BEGIN, DDL and SAFEPOINT may have no op id; they stand where their neighbours do. Each response is looked at once, from
its end and from its start. Put here what is found by comparing the messages of one response. Not here: positions, which
follow from these places (``log_positions``).
"""

from __future__ import annotations

from collections.abc import Sequence

from transforms.formats.yugabyte.row_message import ROWS, OpId, RowMessage


def count(messages: Sequence[RowMessage]) -> None:
    """Give each message its place in its batch, and the op ids before and after it where it has none."""
    if _share_op_ids(messages):
        _place_in_batches(messages)
        _count_occurrences(messages)
    _assign_neighbours(messages)


def _share_op_ids(messages: Sequence[RowMessage]) -> bool:
    """Whether rows share an op id; mostly each has one of its own."""
    ids = [one.op_id for one in messages if one.op_id is not None and one.op in ROWS]
    return len(set(ids)) < len(ids)


def _place_in_batches(messages: Sequence[RowMessage]) -> None:
    """``in_batch``: minus the number of rows of its op id that come after it.

    So it is the same where a response begins in the middle of the batch, and the longest delivery of a batch has the
    smallest numbers, which are those that count.
    """
    later: dict[OpId, int] = {}
    for message in reversed(messages):
        if message.op_id is not None and message.op in ROWS:
            followers = later.get(message.op_id, 0)
            message.in_batch = -followers
            later[message.op_id] = followers + 1


def _count_occurrences(messages: Sequence[RowMessage]) -> None:
    """``occurrence``: how many times the row had the same message before under its op id; None for the first time.

    Equal messages that follow each other with none of the row's others between them count once. It counts from the
    start: what a part of a batch says for the first time has the identity of the batch's first such message, which
    stands no later, so that the smallest position is that of the longest delivery.
    """
    by_content: dict[tuple[object, ...], tuple[object, dict[object, int]]] = {}
    for message in messages:
        if message.op_id is None or message.op not in ROWS:
            continue
        row_key = (message.op_id, message.name, _row(message))
        what = _content(message)
        last, turns = by_content.get(row_key, (None, {}))
        if what != last:
            turns[what] = turns.get(what, -1) + 1
        by_content[row_key] = (what, turns)
        message.occurrence = turns[what] or None


def _row(message: RowMessage) -> object:
    """Which row a message is of: its key where that stands apart; else a tuple's first column, which is of the key."""
    if message.key:
        return tuple(message.key)
    key = message.row.get("primary_key")
    if type(key) is str and key:
        return key
    columns = message.new or message.old
    return columns[0] if columns else None


def _content(message: RowMessage) -> tuple[object, ...]:
    """All that a message says of its row."""
    row_key = (message.op, message.schema_name, message.transaction_id)
    return (*row_key, *map(tuple, (message.new, message.old, message.key)))


def _assign_neighbours(messages: Sequence[RowMessage]) -> None:
    """``before`` and ``after``: the nearest op ids in the response, for a message that has none."""
    near: OpId | None = None
    for message in messages:
        if message.op_id is None:
            message.before = near
        else:
            near = message.op_id
    near = None
    for message in reversed(messages):
        if message.op_id is None:
            message.after = near
        else:
            near = message.op_id
