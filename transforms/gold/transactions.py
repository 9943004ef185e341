"""Where changes of a transaction stand (docs/change_model.md, Transactions).

Put here how a transaction moves a change. Not here: which transactions are complete
(``transforms/silver/open_transactions.py``).
"""

from __future__ import annotations

from dataclasses import replace

from transforms.gold.change import Change, Position


def at_commit(change: Change, commit: Position) -> Change:
    """A change that takes effect at its commit: it stands there, among others of it in their own order."""
    return replace(
        change,
        position=(*commit, *change.position),
        stable_prefix=len(commit) + change.stable_prefix,
    )
