"""Erasing a key from a feed's tables: looked for, planned, carried out; or gone on with where that was interrupted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from assets.control import decisions
from assets.control.progress import DECLARATION
from assets.cuts import manifest
from assets.erasure import record, search, steps
from assets.erasure.record import Plan, Progress
from assets.erasure.search import KeyToErase
from assets.storage.lake import Lake, Layer
from assets.wording import counted
from transforms.change import Key
from transforms.errors import DecisionRefused, ErasureRefused, GoldBehind
from transforms.feed.digest import table_digest
from transforms.feed.erasures import SECRET, hashed_key, standing
from transforms.feed.feed import Feed
from transforms.feed.masks import SHORTEST_KEY

Signed = tuple[str, str]
"""Who decided an erasure, and why."""


@dataclass(frozen=True, slots=True)
class Told:
    """Who is told of an erasure: ``is_wanted`` is asked once it is known what would go, ``say`` told each step.

    ``only_looks``: whether nothing is to be changed, what was interrupted included.
    """

    is_wanted: Callable[[Plan], bool] = lambda _: True
    say: Callable[[str], None] = lambda _: None
    only_looks: bool = False


NOBODY: Final = Told()


def erase(
    lake: Lake, feed: Feed, what: KeyToErase, signed: Signed, told: Told = NOBODY
) -> Progress:
    """Erase a key from one gold table and all that it is made of.

    Raises:
        ErasureRefused: it cannot be erased so; nothing was changed.
        GoldBehind: the table was made by another declaration.
        TableBusy: a run writes tables of the feed.
    """
    _refuse(feed, what)
    feed = decisions.with_recorded(lake, feed)
    decisions.refuse_unknown_secret(feed)
    progress = interrupted(lake, feed, what.name, what.key)
    if progress is not None and told.only_looks:
        told.say(f"erasure {progress.plan.id} was interrupted; the next `weir run` finishes it")
        return progress
    if progress is not None:
        return _gone_on(lake, feed, progress.plan, told)
    _refuse_behind(lake, feed, what)
    steps.refuse_left_tables(lake, feed)

    def planned() -> Plan:
        return record.planned(feed, what, search.found_in_bronze(lake, feed, what), signed)

    bronze = lake.in_process_table(Layer.BRONZE, feed.name)
    plan = planned()
    if plan.is_empty and not what.in_advance:
        return _found_before(lake, feed, what, plan, told)
    if not told.is_wanted(plan):
        return Progress(plan, {}, None)

    def begin() -> Progress:
        # A run may have read something new while the key was looked for, and while a person was asked.
        is_same = bronze.now().version == bronze.version
        return _begun(lake, feed, plan if is_same else replace(planned(), id=plan.id))

    return _carried_out(lake, feed, plan, begin, told)


def _found_before(lake: Lake, feed: Feed, what: KeyToErase, plan: Plan, told: Told) -> Progress:
    """The last erasure of a key of which nothing has come since.

    Raises:
        ErasureRefused: nothing of the key was erased before, either.
    """
    stands = {one.key_hash for one in standing(feed.decisions.erasures) if one.table == what.name}
    for one in reversed(record.recorded(lake, feed)):
        if one.plan.table == what.name and plan.hashes <= one.plan.hashes & stands:
            told.say(f"nothing of this key of {what.name} has come since erasure {one.plan.id}")
            return one
    left = ""
    if plan.left:
        left = f", but {counted(plan.left, 'record')} that cannot be read hold its text"
    raise ErasureRefused(
        feed.name,
        f"nothing of this key of {what.name} was found{left}",
        "See whether it is written as `weir explain` takes it."
        + (" `--unreadable` erases the records that cannot be read." if plan.left else "")
        + " `--in-advance` keeps out what the source has said of it by now and lands later.",
    )


def erase_again(lake: Lake, feed: Feed, signed: Signed, told: Told = NOBODY) -> Progress | None:
    """Go on with erasures that were interrupted, and take out of bronze what landed again; None where nothing did.

    Raises:
        SharedRecordsStay: some records hold rows of others, too; all others were taken out.
    """
    refuse_without_secret(feed)
    search.refuse_format(feed)
    finish_interrupted(lake, feed, told.say)
    feed = decisions.with_recorded(lake, feed)
    decisions.refuse_unknown_secret(feed)
    if not feed.decisions.erasures:
        return None
    found, done = search.landed_again(lake, feed), None
    plan = record.planned_again(feed, found, signed)
    if not plan.is_empty:
        done = _carried_out(lake, feed, plan, lambda: _begun(lake, feed, plan), told)
    search.refuse_shared(feed, found.shared)
    return done


def finish_interrupted(
    lake: Lake, feed: Feed, say: Callable[[str], None] = lambda _: None
) -> list[Progress]:
    """Finish the erasures that were interrupted, the oldest first; gives those that were.

    Whoever reads something new does this before: an erasure takes all rows of its key, and what comes after its plan
    was made is to come through.

    Raises:
        DecisionRefused: the secret that they were begun with is not at hand.
        TableBusy: one is not interrupted but still under way, or a run writes tables of the feed.
    """
    begun = record.unfinished(lake, feed)
    if not begun:
        return []
    _refuse_other_secret(feed, begun)
    feed = decisions.with_recorded(lake, feed)
    decisions.refuse_unknown_secret(feed)
    done = []
    for one in begun:
        of = f"{feed.name}.{one.plan.table}" if one.plan.table else feed.name
        say(
            f"erasure {one.plan.id} of {of}, of {one.plan.at:%Y-%m-%d %H:%M} UTC, was interrupted and is gone on with"
        )
        done.append(_gone_on(lake, feed, one.plan, Told(say=say)))
    return done


def interrupted(lake: Lake, feed: Feed, table: str, key: Key) -> Progress | None:
    """The erasure of this key that was begun and is not finished."""
    assert feed.erasure_key is not None  # the caller has refused a feed without it
    own = hashed_key(feed.erasure_key, feed.name, table, key)
    found = (
        one
        for one in record.unfinished(lake, feed)
        if one.plan.table == table and own in one.plan.hashes
    )
    return next(found, None)


def _begun(lake: Lake, feed: Feed, plan: Plan) -> Progress:
    record.note(lake, feed, plan.id, record.PLANNED, plan)
    return Progress(plan, {}, None)


def _gone_on(lake: Lake, feed: Feed, plan: Plan, told: Told) -> Progress:
    def left() -> Progress | None:
        # Another process may have finished it since, or done more of it.
        return next((one for one in record.unfinished(lake, feed) if one.plan.id == plan.id), None)

    return _carried_out(lake, feed, plan, left, told)


def _carried_out(
    lake: Lake, feed: Feed, plan: Plan, begin: Callable[[], Progress | None], told: Told
) -> Progress:
    for step in steps.carry_out(lake, feed, begin):
        told.say(step)
    # The versions that it names are gone.
    manifest.published_again(lake, feed)
    return next(one for one in record.recorded(lake, feed) if one.plan.id == plan.id)


def _refuse(feed: Feed, what: KeyToErase) -> None:
    refuse_without_secret(feed)
    search.refuse_format(feed)
    if not what.table.key:
        raise ErasureRefused(
            feed.name,
            f"table {what.name} has no key, so that equal rows of two people are one",
            "Declare its key in the feed file, if it has one.",
        )


def _refuse_behind(lake: Lake, feed: Feed, what: KeyToErase) -> None:
    """Raise where gold was made by another declaration, and may know its rows by other keys."""
    gold = lake.in_process_table(Layer.GOLD, feed.name, what.name)
    if gold.exists and gold.properties.get(DECLARATION) != table_digest(feed, what.table):
        raise GoldBehind(feed.name, what.name)


def _refuse_other_secret(feed: Feed, begun: Sequence[Progress]) -> None:
    """Raise where erasures were begun with a secret that is not at hand: another one does not tell their rows."""
    own = feed.erasure_key and feed.erasure_key.fingerprint()
    for one in begun:
        # What is taken out because it landed again is of keys whose erasures are recorded, with their secret.
        if own is None or any(each.secret != own for each in one.plan.erasures):
            found = "is not set" if own is None else "holds another"
            raise DecisionRefused(
                feed.name,
                f"erasure {one.plan.id} was interrupted, and has to be finished before anything new is read: {SECRET}"
                f" {found}. Nothing was written: set it to the secret that the erasure was begun with",
            )


def refuse_without_secret(feed: Feed) -> None:
    """Raise where no secret is at hand, or one that can be found by trying."""
    if feed.erasure_key is None or feed.erasure_key.is_shorter_than(SHORTEST_KEY):
        found = "is not set" if feed.erasure_key is None else "is too short"
        raise ErasureRefused(
            feed.name,
            f"an erased key is remembered by a keyed hash, and its secret, {SECRET}, {found}",
            f"Set it to a text of at least {SHORTEST_KEY} characters, and keep it: every later run needs it.",
        )
