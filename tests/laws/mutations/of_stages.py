"""Faults of the stages: which keys a run looks at, what it takes from gold, and which keys it folds again.

Not here: faults of one fold (``of_gold``), and of keys that their newest change decides (``of_newest``).
"""

from __future__ import annotations

from typing import Final

from tests.laws.mutations.mutation import GRAPH, HELD, Mutation, of_kind

STAGES, KEY_GROUPS = "transforms/gold/stages.py", "transforms/gold/key_groups.py"
ONTO_GOLD, STORED_ROW = "transforms/gold/stages.py", "transforms/gold/key_groups.py"
FOLDING, FOLDED_ROWS = "assets/gold/fold.py", "transforms/gold/folded_rows.py"
KEY_CHANGES, CROSSING = "transforms/gold/fold.py", "transforms/gold/range_deletes.py"

OF_STAGES: Final = (
    Mutation(
        1,
        "a late update is not written where the last change stays the same",
        STORED_ROW,
        "mine.columns.get(name) == state.columns.get(name) for name in fold.values",
        "True for name in fold.values",
        of_kind("stock"),
    ),
    Mutation(
        1,
        "a row keeps the position of its last change when this comes again at an earlier one",
        STORED_ROW,
        "and mine.last[:3] == state.last[:3]",
        "and mine.last[1] == state.last[1]",
        of_kind("replica"),
    ),
    Mutation(
        2,
        "what gold has already is written once more",
        STAGES,
        "and stored.says(fold, state, self.given.compaction_watermark)",
        "and False",
        of_kind("item"),
    ),
    Mutation(
        4,
        "a delete that a crash cut in two is never finished: the row stays",
        ONTO_GOLD,
        "(state is not before or (stored is not None and stored.is_torn))",
        "state is not before",
        of_kind("stock"),
    ),
    Mutation(
        4,
        "a row that a crash left beside its newer tombstone counts as a row",
        KEY_GROUPS,
        "if row is None or row.change.log_position < last.log_position:",
        "if row is None:",
        of_kind("item"),
    ),
    Mutation(
        4,
        "a row that comes late is back after a truncate that came before it",
        STAGES,
        "elif range_delete.stream is None or (last is None and range_delete.stream in streams):",
        "elif not change.is_past and (range_delete.stream is None or range_delete.stream in streams):",
        of_kind("item"),
    ),
    Mutation(
        4,
        "a truncate leaves the rows of which the run brings no change",
        STAGES,
        "if first is None and all(change.is_past for change in range_deletes):",
        "if first is None:",
        of_kind("item"),
    ),
    Mutation(
        5,
        "a row that gets another key loses the columns that the key change does not mention",
        KEY_CHANGES,
        "after={**row.columns, **change.after}",
        "after={**change.after}",
        of_kind("item"),
    ),
    Mutation(
        7,
        "edges stay whose vertex is deleted in another window",
        FOLDING,
        "brings_deletes = not all(one.change.is_past for one in given.range_deletes)",
        "brings_deletes = False",
        of_kind("graph"),
    ),
    Mutation(
        7,
        "edges come late to a vertex that is deleted, and stay",
        KEY_GROUPS,
        "range_deletes = [*by_key.of(one.key, streams)]",
        "range_deletes: list[Change] = []",
        of_kind("graph"),
    ),
    Mutation(
        7,
        "edges stay whose vertex is deleted in another partition",
        KEY_GROUPS,
        "range_deletes += crossed",
        "pass",
        GRAPH,
    ),
    Mutation(
        7,
        "edges are deleted by another partition though nobody knows which came first",
        CROSSING,
        "surely = 0 if at is None else bisect_right(latest, at - TOLERANCE)",
        "surely = 0 if at is None else bisect_right(latest, at)",
        HELD,
    ),
    Mutation(
        7,
        "nobody hears of rows that a delete of another partition may be for",
        STAGES,
        "metrics.in_doubt.update(one.in_doubt)",
        "pass",
        HELD,
    ),
    Mutation(
        8,
        "a fold of all changes forgets the defaults of columns that none of them mentions",
        STAGES,
        "state, came_late = refold(task.fold, key_group.stored, changes, key_group.base)",
        "state, came_late = refold(Fold(task.fold.columns, task.fold.identity, {}, task.fold.has_key),"
        " key_group.stored, changes, key_group.base)",
        of_kind("graph"),
    ),
    Mutation(
        8,
        "a rebuild does not take the old key's row along to the new key, where the runs had done so",
        KEY_GROUPS,
        "iter(resolved[one.key.key])",
        "iter((own if given.full_rebuild else resolved)[one.key.key])",
        of_kind("item"),
    ),
    Mutation(
        8,
        "a run does not take the old key's row along to the new key, where a rebuild does so",
        ONTO_GOLD,
        'if change.effect == "move":',
        "if False:",
        of_kind("item"),
    ),
    Mutation(
        8,
        "a row stands still that took its values from another, of which something comes late",
        STAGES,
        "if state.last is None or self._is_known(task.fold, key_group, state, of_key):",
        "if state.last is None or self._is_known(task.fold, key_group, state, of_key)"
        " or not (self.given.full_rebuild or key_group.is_asked):",
        of_kind("item"),
    ),
    Mutation(
        8,
        "a row is there twice that took its values from another: by its new changes, and by all of them",
        FOLDING,
        'decided = run.select(self._with_linked(asked), {"key": PARTS})',
        'decided = run.select(asked, {"key": PARTS})',
        of_kind("item"),
    ),
    Mutation(
        8,
        "what comes late for a row that is gone is forgotten, though another took its values",
        FOLDING,
        "keeps_history=plan.kinds.moves or plan.table.history,",
        "keeps_history=plan.table.history,",
        of_kind("item"),
    ),
    Mutation(
        8,
        "the truncate of a tablet removes rows of another, where a rebuild keeps them",
        STAGES,
        "if asks or outcome.needs_history or not is_sure:",
        "if asks or outcome.needs_history:",
        of_kind("account"),
    ),
    Mutation(
        8,
        "in a table without a key, a row stays that is one of several equal ones and was deleted",
        FOLDED_ROWS,
        '"replace" if copy <= state.copies else "remove"',
        '"replace" if state.copies else "remove"',
        of_kind("log"),
    ),
)
