"""The form by which quarantine is worked with from Dagster's pages: its fields, as the Launchpad shows them.

Put here what a person may fill in, and which fields go together. Not here: what is then done (``quarantine_job``).
"""

# No postponed annotations here: Dagster reads the fields' own.
from enum import Enum

import dagster as dg
from pydantic import Field

from transforms.errors import DecisionRefused
from transforms.feed.feed import Feed


class Action(Enum):
    """What a run of the job does."""

    list = "list"
    show = "show"
    replay = "replay"
    dismiss = "dismiss"


class ListedState(Enum):
    """Which records a list shows: those in one state, or all."""

    open = "open"
    repaired = "repaired"
    dismissed = "dismissed"
    too_late = "too late"
    all = "all"


class QuarantineForm(dg.Config):
    """What a person fills in; without anything, the open records are listed."""

    action: Action = Field(
        default=Action.list,
        description="list or show records (nothing is changed), replay them through their windows, or dismiss them.",
    )
    ids: list[str] = Field(
        default=[],
        description="The records, by the beginnings of their ids, as a list shows them.",
    )
    all_of_reason: str = Field(
        default="",
        description="Instead of ids: all open records with this reason, value_does_not_fit, say.",
    )
    state: ListedState = Field(
        default=ListedState.open,
        description="To list, without ids: only records in this state, or all.",
    )
    repaired_payload: str = Field(
        default="",
        description="To replay: what is to be read in place of the record, whose id stands alone under ids. The whole"
        " record as text, for CSV its row without the header. Empty: records are replayed as they are.",
    )
    force: bool = Field(
        default=False,
        description="With a repaired payload: record it also if it would be quarantined again.",
    )
    later: bool = Field(
        default=False,
        description="With a repaired payload: only record it; the next run of the feed's windows takes it.",
    )
    reason: str = Field(
        default="",
        description="Why. Needed to dismiss, and with a repaired payload; it stands in decisions.<feed>.",
    )
    by: str = Field(
        default="", description="Who decides this. By default the user whom the run works as."
    )


def refuse_contradictions(feed: Feed, form: QuarantineForm) -> None:
    """See that the fields go together, before anything is read.

    Raises:
        DecisionRefused: a field is filled in that says nothing beside the others, or contradicts one.
    """
    if form.ids and form.all_of_reason:
        raise DecisionRefused(
            feed.name, "say ids or all_of_reason, not both: they may name other records"
        )
    if form.repaired_payload and form.action != Action.replay:
        raise DecisionRefused(
            feed.name, f"a repaired_payload is for the action replay, not for {form.action.value}"
        )
    for name, is_set in (("force", form.force), ("later", form.later)):
        if is_set and not form.repaired_payload:
            raise DecisionRefused(
                feed.name, f"{name} goes with a repaired_payload: without one, nothing is recorded"
            )
    if form.state != ListedState.open and (form.action != Action.list or form.ids):
        raise DecisionRefused(
            feed.name,
            f"state: {form.state.name} is for the action list without ids: records with ids are"
            " shown in any state, and the other actions take open ones by their reason",
        )
