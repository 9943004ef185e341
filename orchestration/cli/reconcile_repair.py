"""``weir reconcile --repair``: keys that differ, read again in the source and recorded in bronze."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Final

import click

from assets.control.decisions import signed
from assets.reconcile import repair
from assets.reconcile.compare import Reconciled, Sides, looked_at_again
from assets.reconcile.repair import RepairPlan
from assets.reconcile.words import after_lines, plan_facts, plan_lines
from assets.wording import counted
from orchestration.cli.options import Place
from orchestration.console import agrees, put_lines, say, waiting
from orchestration.spark.java import check_java

USUAL_REASON: Final = "gold differed from the source"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ways:
    """What the command line says of a repair; ``limit``: how many keys of a table are printed."""

    is_repair: bool
    dry_run: bool
    is_sure: bool
    reason: str | None
    by: str | None
    limit: int

    def refuse_alone(self) -> None:
        """Refuse what says how to repair, without the word to do so.

        Raises:
            click.UsageError: there is such.
        """
        for name, said in (
            *(("--dry-run", self.dry_run), ("--yes", self.is_sure)),
            *(("--reason", self.reason), ("--by", self.by)),
        ):
            if said and not self.is_repair:
                raise click.UsageError(f"{name} says how to repair, and needs --repair")


WAYS: Final = tuple(one.name for one in fields(Ways) if one.name != "limit")


def repaired(
    place: Place, of: Sides, found: Reconciled, ways: Ways, *, as_json: bool
) -> tuple[Reconciled, Mapping[str, object]]:
    """Repair what differs, if the person agrees; returns what differs afterwards, and what was recorded.

    Raises:
        DecisionRefused: nothing can be repaired so.
        UnreadableSource: the source cannot be asked.
    """
    if not any(one.different for one in found.tables):
        say(f"{of.feed.name}: nothing is to be repaired")
        return found, {}
    signature = signed(of.feed, ways.reason or USUAL_REASON, ways.by)
    with waiting(f"reading {of.feed.name} again"):
        plan = repair.read_again(of, found, signature)
    facts = {**plan_facts(plan), "is_recorded": False}
    if not as_json:
        put_lines(plan_lines(of.feed, plan, ways.limit))
    is_wanted = plan.repairs and not ways.dry_run
    if is_wanted and (ways.is_sure or agrees("Record this in bronze, and bring it to gold?")):
        _carry_out(place, of, plan, as_json=as_json)
        facts["is_recorded"] = True
    elif plan.repairs:
        say(f"{of.feed.name}: nothing was recorded")
        return found, facts
    with waiting(f"comparing {of.feed.name} again"):
        left = {(one.table, one.key) for one in plan.left}
        keys = {
            (one.table, each.key)
            for one in found.tables
            for each in one.different
            if left.isdisjoint({(one.table, each.key), (one.table, None)})
        }
        now = looked_at_again(of, found, keys)
    if not as_json:
        put_lines(after_lines(of.feed, now, {one.table for one in plan.repairs}))
    return now, facts


def _carry_out(place: Place, of: Sides, plan: RepairPlan, *, as_json: bool) -> None:
    """Record what was planned, and bring its window to gold."""
    # Imported late: a comparison needs nothing of Dagster.
    from orchestration.definitions import job_to_gold
    from orchestration.runs import execution, summary
    from orchestration.runs.history import open_history
    from orchestration.sheets import Sheet

    check_java()
    window = repair.record(of.lake, of.feed, plan.repairs)
    many = counted(len(plan.repairs), "row")
    say(f"{of.feed.name}: {many} recorded in bronze, in window {window}")
    with waiting("starting"), open_history(os.environ, place.feeds) as instance:
        outcomes = execution.replayed(of.lake, of.feed, [window], instance, job_to_gold)
    if any(one.failed for one in outcomes):
        if not as_json:
            summary.show_summary(outcomes, Sheet())
        say(
            f"{of.feed.name}: what was recorded is not in gold yet: `weir run --feed {of.feed.name}`"
        )
