"""Faults of the fold, and of when a transaction counts.

Not here: faults of which keys are folded again, and from what (``of_stages``, ``of_newest``), of the order of changes
(``of_order``), and of what comes before gold (``of_events``).
"""

from __future__ import annotations

from typing import Final

from tests.laws.mutations.mutation import Mutation, of_kind

FOLD, OPEN = "transforms/gold/fold.py", "transforms/silver/transactions.py"

OF_GOLD: Final = (
    Mutation(
        4,
        "a delete's tombstone stands where the row's last change stood: what is between brings it back",
        FOLD,
        'return State("remove", {}, 0, _last(change), reset)',
        'return State("remove", {}, 0, state.last or _last(change), state.reset)',
        of_kind("stock"),
    ),
    Mutation(
        4,
        "rows survive the truncate of their tablet",
        "transforms/gold/range_deletes.py",
        "if one.stream is None or one.stream in streams:",
        "if one.stream is None:",
        of_kind("account"),
    ),
    Mutation(
        4,
        "a dropped column makes rows that are not there",
        FOLD,
        'if change.is_range_delete and state.effect == "remove":',
        "if False:",
        of_kind("item"),
    ),
    Mutation(
        5,
        "an update makes the columns null that it does not mention",
        FOLD,
        "columns = {**old, **change.after}",
        "columns = {**dict.fromkeys(self.columns), **change.after}",
        of_kind("stock"),
    ),
    Mutation(
        5,
        "a column that is set to null keeps its value",
        FOLD,
        "columns = {**old, **change.after}",
        "columns = {**old, **{a: b for a, b in change.after.items() if b is not None}}",
        of_kind("stock"),
    ),
    Mutation(
        5,
        "what an update adds to a number takes the number's place",
        FOLD,
        "columns[name] = applied(self.columns[name], operation, held, text)",
        "columns[name] = text",
        of_kind("graph"),
    ),
    Mutation(
        6,
        "a transaction shows before all of its changes are there",
        OPEN,
        "return seen >= commit.expected",
        "return True",
        of_kind("account"),
    ),
    Mutation(
        6,
        "a transaction shows while windows are unread that may hold more of it",
        OPEN,
        "return any(all(window > end for window in unread) for end in ended_in)",
        "return True",
        of_kind("account"),
    ),
    Mutation(
        6,
        "a transaction shows as soon as its commit is there",
        "transforms/silver/transactions.py",
        "is_whole = last is not None and _is_whole(last, len(own), begun_in, ended_in, unread)",
        "is_whole = last is not None",
        of_kind("account"),
    ),
    Mutation(
        6,
        "changes that take effect at their commit stand where they were written",
        "assets/gold/silver_in_process.py",
        "positions.append((*commit, *log_position))",
        "positions.append(log_position)",
        of_kind("account"),
    ),
    Mutation(
        8,
        "a run puts a part of a row in place of the whole, where a rebuild has all of it",
        "transforms/gold/fold.py",
        'return State("update" if is_present else "remove", {}, int(is_present), last, reset)',
        'return State("replace" if is_present else "remove", {}, int(is_present), last, reset)',
        of_kind("stock"),
    ),
)
