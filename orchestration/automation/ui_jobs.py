"""Jobs that a person launches from Dagster's pages: a form to work with quarantine, and Data Docs."""

# No postponed annotations here: Dagster reads the functions' own.
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Final

import dagster as dg
from pydantic import Field

from assets.audit import stored_tables
from assets.control.decisions import Signature, signed
from assets.feed_assets import markdown_metadata
from assets.maintenance import repair
from assets.maintenance.repair import Repaired, bronze_rows, contents_of
from assets.picked_ids import PickedIds
from assets.quality.data_docs import build_pages_of, link_to
from assets.quarantine import words
from assets.quarantine.records import Quarantine, Records, quarantine_of
from assets.quarantine.words import shown_in_full
from assets.storage.lake import Lake
from assets.wording import counted
from orchestration.runs import execution
from orchestration.runs.execution import JobOf
from orchestration.runs.outcome import Outcome
from transforms.display import Markdown, code, code_block, paragraphs
from transforms.errors import DecisionRefused, WeirError
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
    """See that the fields go together, before anything is read."""
    fault = ""
    if form.ids and form.all_of_reason:
        fault = "say ids or all_of_reason, not both: they may name other records"
    elif form.repaired_payload and form.action != Action.replay:
        fault = f"a repaired_payload is for the action replay, not for {form.action.value}"
    elif (form.force or form.later) and not form.repaired_payload:
        name = "force" if form.force else "later"
        fault = f"{name} goes with a repaired_payload: without one, nothing is recorded"
    elif form.state != ListedState.open and (form.action != Action.list or form.ids):
        fault = (
            f"state: {form.state.name} is for the action list without ids: records with ids are"
            " shown in any state, and the other actions take open ones by their reason"
        )
    if fault:
        raise DecisionRefused(feed.name, fault)


# A job per feed to work with its quarantine: a form in the Launchpad, for what ``weir quarantine`` does.


SHOWN: Final = 50
"""How many records of each reason are in the table of a run at most."""


@dataclass(frozen=True, slots=True)
class Done:
    """What a run did: in lines, and as Markdown. ``left``: why the run did not reach what was asked of it."""

    lines: Sequence[str]
    page: Markdown
    left: str = ""


def build_quarantine(feed: Feed, job_of: JobOf) -> dg.JobDefinition:
    """The job of one feed; ``job_of`` makes the one by which records are replayed."""

    @dg.op(
        name=f"quarantine_of_{feed.name}",
        description="Lists, shows, replays or dismisses records of quarantine.",
    )
    def work(
        context: dg.OpExecutionContext, config: QuarantineForm, lake: dg.ResourceParam[Lake]
    ) -> None:
        def run(windows: Collection[str]) -> list[Outcome]:
            return execution.replayed(lake, feed, windows, context.instance, job_of)

        try:
            refuse_contradictions(feed, config)
            quarantine = quarantine_of(lake, feed)
            if config.action == Action.replay:
                done = replayed(quarantine, config, run)
            else:
                done = _ACTIONS[config.action](quarantine, config)
        except WeirError as fault:
            # What is quarantined now would be so again.
            raise dg.Failure(str(fault), allow_retries=False) from None
        for line in done.lines:
            context.log.info(line)
        metadata = {"records": markdown_metadata(done.page)}
        if done.left:
            raise dg.Failure(done.left, metadata=metadata, allow_retries=False)
        context.add_output_metadata(metadata)

    @dg.job(
        name=f"{feed.name}_quarantine",
        executor_def=dg.in_process_executor,
        description=f"Works with the quarantine of feed {feed.name}: open the Launchpad, choose an action, launch."
        " As it is, it lists the open records and changes nothing.",
        tags={"feed": feed.name},
    )
    def job() -> None:
        work()

    return job


def picked(quarantine: Quarantine, form: QuarantineForm) -> Records:
    """The records that the form names."""
    if form.ids:
        return quarantine.picked(PickedIds(form.ids))
    found = quarantine.open.where(reason=form.all_of_reason)
    if not found:
        what = (
            f"no open record has the reason {form.all_of_reason!r}"
            if form.all_of_reason
            else "say which records, in ids or all_of_reason"
        )
        raise DecisionRefused(quarantine.feed.name, f"{what}; the action list shows them")
    return found


def listed(quarantine: Quarantine, form: QuarantineForm) -> Done:
    """The records that are named, or those in a state, the open ones by default; nothing is changed."""
    in_any = form.state == ListedState.all
    if form.ids:
        found = quarantine.picked(PickedIds(form.ids))
    else:
        state = None if in_any else form.state.value
        found = quarantine.records.where(state=state, reason=form.all_of_reason or None)
    what = "record" if form.ids or in_any else f"{form.state.value} record"
    line = f"{quarantine.feed.name}: {counted(len(found), what)} in quarantine"
    return Done([line], as_page(quarantine, found, line))


def shown(quarantine: Quarantine, form: QuarantineForm) -> Done:
    """All that is known of the records that are named; nothing is changed."""
    if quarantine.feed.masks_columns:
        raise _for_the_command_line(quarantine.feed, "what this job shows", "show")
    records = picked(quarantine, form)[:SHOWN]
    rows = bronze_rows(quarantine.lake, quarantine.feed, records)
    texts = [
        "\n".join(shown_in_full(quarantine.feed, one, rows.get(one.source_location)))
        for one in records
    ]
    return Done(texts, paragraphs(map(code_block, texts)))


def dismissed(quarantine: Quarantine, form: QuarantineForm) -> Done:
    """The records that are named, given up."""
    signature = signature_of(quarantine.feed, form)
    records = picked(quarantine, form)
    lines = repair.dismiss_records(quarantine.lake, quarantine.feed, records, signature)
    return Done(lines, page_after(quarantine, records, lines[-1]))


def replayed(
    quarantine: Quarantine, form: QuarantineForm, run: Callable[[Collection[str]], list[Outcome]]
) -> Done:
    """The records that are named, through their windows once more: repaired, or as they are."""
    feed = quarantine.feed
    records = picked(quarantine, form)
    lines = repaired(quarantine, form, records)
    if form.later:
        windows = counted(len(records.windows), "window")
        lines.append(f"{feed.name}: {windows} due: launch {feed.name}_to_gold, or `weir run`")
        return Done(lines, page_after(quarantine, records, lines[-1]))
    outcomes = run(records.windows)
    became, left = execution.outcome_lines(quarantine_of(quarantine.lake, feed), records)
    lines += [*became, *left]
    errors = [fault for one in outcomes for fault in one.errors]
    if not errors and any(one.failed for one in outcomes):
        errors = [f"{feed.name}: a blocking check failed: see the run of {feed.name}_to_gold"]
    return Done(lines, page_after(quarantine, records, lines[-1]), "\n".join([*errors, *left]))


def repaired(quarantine: Quarantine, form: QuarantineForm, records: Records) -> list[str]:
    """Record the payload that the form gives, if it gives one; the lines that say so."""
    if not form.repaired_payload:
        return []
    feed = quarantine.feed
    if feed.masks_columns:
        raise _for_the_command_line(feed, "a repaired_payload", "replay")
    signature = signature_of(feed, form)
    if len(records) != 1 or not form.ids:
        raise DecisionRefused(feed.name, "a repaired_payload is of one record: give its id in ids")
    payload = form.repaired_payload.removesuffix("\n").removesuffix("\r").encode()
    given = [Repaired(records[0], payload)]
    changed = repair.repair_records(quarantine.lake, feed, given, signature, unseen=form.force)
    line = words.record_line(records[0])
    if not changed:
        return [f"{feed.name}: it is what is read already: {line}"]
    return [f"{feed.name}: recorded: another payload for {line}"]


def _for_the_command_line(feed: Feed, what: str, command: str) -> DecisionRefused:
    return DecisionRefused(
        feed.name,
        f"it masks columns, and {what} stays in Dagster's event log: use `weir quarantine {command}`",
    )


def signature_of(feed: Feed, form: QuarantineForm) -> Signature:
    """Who decides, when and why."""
    return signed(feed, form.reason, form.by or None, "say why in the field reason")


def page_after(quarantine: Quarantine, records: Records, title: str) -> Markdown:
    """These records as they are now, as Markdown."""
    now = quarantine_of(quarantine.lake, quarantine.feed)
    return as_page(now, now.records.among(records), title)


def as_page(quarantine: Quarantine, records: Records, title: str) -> Markdown:
    """Records as Markdown, by reason."""
    groups = words.grouped(records)
    seen = [one for group in groups for one in group.records[:SHOWN]]
    contents = contents_of(quarantine.lake, quarantine.feed, seen)
    return paragraphs([code(title), words.as_markdown(groups, contents, SHOWN)])


_ACTIONS: Final[Mapping[Action, Callable[[Quarantine, QuarantineForm], Done]]] = {
    Action.list: listed,
    Action.show: shown,
    Action.dismiss: dismissed,
}


# A job per feed that asks its tables as they stand and makes Data Docs.


def build_data_docs(feed: Feed) -> dg.JobDefinition:
    """The job of one feed."""

    @dg.op(name=f"make_data_docs_of_{feed.name}")
    def make(context: dg.OpExecutionContext, lake: dg.ResourceParam[Lake]) -> None:
        stored = [*stored_tables.ask_stored(lake, feed)]
        made, index = build_pages_of(lake.warehouse, feed.name)
        context.log.info(f"{feed.name}: {counted(made, 'new result')}")
        if index:
            context.add_output_metadata({"data_docs": dg.MetadataValue.url(link_to(feed.name))})
        lines = stored_tables.stored_in_lines(feed, stored)
        if any(one.broken for one in stored):
            raise dg.Failure("\n".join(lines), allow_retries=False)
        for line in lines:
            context.log.info(line)

    @dg.job(
        name=f"{feed.name}_data_docs",
        executor_def=dg.in_process_executor,
        description=f"Asks the tables of feed {feed.name} as they stand, and makes Data Docs of all results.",
        tags={"feed": feed.name},
    )
    def job() -> None:
        make()

    return job
