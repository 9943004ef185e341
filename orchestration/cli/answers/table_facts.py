"""What ``weir verify`` and ``weir compact`` tell programs of one gold table.

Put here the facts of a gold table that a command has worked on. Not here: those of a run (``run_facts``).
"""

from __future__ import annotations

from dataclasses import asdict

from assets.audit.comparing import Certificate
from assets.audit.verify import NotProved
from assets.upkeep.compaction import Compacted
from orchestration.cli.answers.answer import Facts


def proof(found: Certificate | NotProved) -> Facts:
    """A table's certificate, or why there is none."""
    if isinstance(found, NotProved):
        return {"table": found.table, "state": "not proved", "reason": found.reason}
    state = "differs" if found.differing else "proved"
    facts = asdict(found)
    return {"table": facts.pop("table"), "state": state, **facts}


def compaction(done: Compacted) -> Facts:
    """What was kept and dropped of one table, up to which position of the source, and what held that back."""
    facts = asdict(done)
    facts.pop("plan")
    compaction_watermark = done.plan.new or done.plan.old
    return {
        "table": facts.pop("table"),
        "compaction_watermark": None
        if compaction_watermark is None
        else [*compaction_watermark.log_position],
        "held_back_by": [*done.plan.held_back_by],
        **facts,
    }
