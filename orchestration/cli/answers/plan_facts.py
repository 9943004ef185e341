"""What ``weir run`` tells programs of each feed's plan: what is left alone, and why nothing was to be done.

Put here what a run's document has without a run. Not here: what a run came to (``run_facts``).
"""

from __future__ import annotations

from collections.abc import Sequence

from orchestration.cli.answers.answer import Answer
from orchestration.runs.plan import Plan


def add_plan(answer: Answer, plan: Plan) -> None:
    """Note what a feed's plan leaves alone: beside each other those of a run's first plan and of the rest."""
    facts = answer.of(plan.feed.name)
    waits = facts.setdefault("not_read", {name: [] for name in _LEFT_ALONE})
    assert isinstance(waits, dict)
    for name, texts in zip(_LEFT_ALONE, _left_alone(plan), strict=True):
        waits[name].extend(text for text in texts if text not in waits[name])
    for name, empty in (
        ("windows", []),
        ("tables", {}),
        ("executors", {}),
        ("checks", {}),
        ("notices", []),
    ):
        facts.setdefault(name, empty)
    if quiet := plan.empty:
        facts["nothing_landed"] = {"first": quiet[0], "last": quiet[-1], "windows": len(quiet)}


def add_nothing_new(answer: Answer, plan: Plan, lines: Sequence[str]) -> None:
    """Note why no run was needed, and what still waits to be declared."""
    none_yet = not plan.landed and plan.asked is None
    notices = [f"no drops in {plan.feed.landing} yet"] if none_yet else []
    answer.of(plan.feed.name)["notices"] = [*notices, *lines]


_LEFT_ALONE = ("not_begun", "before_start", "no_drops", "undecided")


def _left_alone(plan: Plan) -> tuple[Sequence[str], ...]:
    return plan.early, plan.ancient, plan.left_out, plan.undecided
