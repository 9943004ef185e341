"""``weir erase``: a person's rows taken out of every table of a feed for good, with a certificate of it."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass, replace
from typing import Any

import click

from assets.audit.explain import canonical
from assets.control import decisions
from assets.erasure import erase as erasing
from assets.erasure import record
from assets.erasure.certificate import certificate
from assets.erasure.erase import Told
from assets.erasure.record import Plan, Progress
from assets.erasure.search import KeyToErase
from assets.gold import tables as gold_tables
from assets.storage.lake import Lake
from assets.wording import counted
from orchestration.cli import session
from orchestration.cli.answer import CommandAnswer
from orchestration.cli.explain import key_parts
from orchestration.cli.options import BY, JSON, WHY, Place, in_place_by
from orchestration.console import agrees, say, waiting
from orchestration.observability import erasure_certificate
from transforms.errors import DecisionRefused, UnknownKey
from transforms.feed.erasures import hashed_key, standing
from transforms.feed.feed import Feed, Table
from transforms.near_names import did_you_mean


@click.command("erase")
@click.argument("feed")
@click.argument("table", required=False)
@click.argument("key", nargs=-1)
@click.option(
    "--linked", is_flag=True, help="And the keys that the source has changed it from or to."
)
@click.option(
    "--unreadable", is_flag=True, help="And records that cannot be read and hold the key's text."
)
@click.option(
    "--in-advance",
    is_flag=True,
    help="Also where nothing of the key has come: what the source has said by now is kept out when it lands.",
)
@click.option(
    "--again",
    is_flag=True,
    help="Go on with erasures that were interrupted, and take out of bronze what landed again of erased keys.",
)
@click.option("--lift", is_flag=True, help="Let what lands again of the key come through.")
@click.option(
    "--reason", help=f"{WHY}. Needed where anything is to change. Do not name the person in it."
)
@BY
@click.option("--dry-run", is_flag=True, help="Say what would be erased, and change nothing.")
@click.option(
    "--yes", "is_sure", is_flag=True, help="Do not ask; without a terminal nobody is asked."
)
@in_place_by
@JSON
def erase_command(place: Place, feed: str, **asked: Any) -> None:
    """Erase a person: the rows of KEY of the gold table TABLE of FEED, in every layer, older versions included.

    They leave bronze, silver, quarantine, gold with its tombstones and history, the feed's small tables, its report and
    its Data Docs. A keyed hash remembers the key, so that what the source had said of it until now does not come back,
    however often it lands; what it says later comes through. The secret of the hash is WEIR_ERASURE_KEY.

    A key of several columns is written as for `weir explain`; `-` reads it from standard input, so that it stands in no
    shell's history. Without TABLE and KEY, the command lists the erasures. After a crash the next run of the feed
    goes on, and so does the same command. Run nothing else on the feed meanwhile.
    """
    (declared,) = session.choose(place.feeds, [feed])
    lake = session.reached(place.warehouse, [declared], place.executor)
    answer = CommandAnswer(asked.pop("as_json"))
    Asked(lake, declared, answer, **asked).answered()
    answer.end_of_one(feed)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Options:
    """What the command line says."""

    table: str | None
    key: tuple[str, ...]
    linked: bool
    unreadable: bool
    in_advance: bool
    again: bool
    lift: bool
    reason: str | None
    by: str | None
    dry_run: bool
    is_sure: bool


@dataclass(frozen=True, slots=True)
class Asked(_Options):
    """One call of the command, in an open warehouse."""

    lake: Lake
    feed: Feed
    answer: CommandAnswer

    def answered(self) -> None:
        """Do what is asked."""
        self._refuse_together()
        if self.again:
            self._erase_again(self._signed())
        elif self.table is None:
            list_erasures(self.lake, self.feed, self.answer)
        elif not self.key:
            raise UnknownKey(
                f"which key of {self.table}? Give it behind the table, or `-` to read it from standard input"
            )
        elif self.lift:
            self._lift(self.table)
        else:
            self._erase(self.table)

    def _refuse_together(self) -> None:
        """Refuse words of which one would be passed over: a dry run that changes something is the worst of them.

        Raises:
            click.UsageError: there are such.
        """
        if self.again and self.dry_run:
            raise click.UsageError(
                "--again takes out what was decided already, and knows no --dry-run; without it and --again,"
                " `weir erase FEED` lists all erasures, and which were interrupted"
            )
        if self.again and (self.table or self.lift):
            raise click.UsageError(
                "--again is about all erased keys of the feed: leave TABLE, KEY and --lift out"
            )
        if self.lift and self.table is None:
            raise click.UsageError(
                "--lift is about one key: weir erase FEED TABLE KEY --lift --reason …"
            )

    def _signed(self) -> decisions.Signature:
        return decisions.signed(self.feed, self.reason, self.by)

    def _what(self, name: str) -> KeyToErase:
        table = _table_of(self.lake, self.feed, name)
        words = self.key
        if words == ("-",):
            words = (sys.stdin.readline().rstrip("\n"),)
        key = canonical(table, key_parts(words[0] if len(words) == 1 else json.dumps(words), table))
        return KeyToErase(table, name, tuple(key), self.linked, self.unreadable, self.in_advance)

    def _erase(self, name: str) -> None:
        what = self._what(name)
        # Who only looks decides nothing, and owes no reason.
        signed = None if self.dry_run else self._signed()

        def is_wanted(plan: Plan) -> bool:
            self.answer.lines(plan_lines(self.feed, plan))
            question = "Erase this? It cannot be undone"
            return not self.dry_run and (self.is_sure or agrees(question))

        told = Told(is_wanted, self._say, self.dry_run)
        with waiting(f"looking for the key in bronze of {self.feed.name}"):
            own = (signed.by or "", signed.reason or "") if signed else ("", "")
            done = erasing.erase(self.lake, self.feed, what, own, told)
        if done.finished_at is None:
            self.answer.line("nothing was erased")
        else:
            certify(self.lake, self.feed, done, self.answer)

    def _say(self, step: str) -> None:
        say(f"{self.feed.name}: {step}")

    def _erase_again(self, signed: decisions.Signature) -> None:
        known = record.recorded(self.lake, self.feed)
        before = {one.plan.id for one in known if one.finished_at is not None}
        try:
            with waiting(f"looking for erased keys in bronze of {self.feed.name}"):
                own = (signed.by or "", signed.reason or "")
                erasing.erase_again(self.lake, self.feed, own, Told(say=self._say))
        finally:
            known = record.recorded(self.lake, self.feed)
            new = [
                one for one in known if one.finished_at is not None and one.plan.id not in before
            ]
            for one in new:
                certify(self.lake, self.feed, one, self.answer)
        if not new:
            self.answer.line(f"{self.feed.name}: bronze holds nothing of erased keys")

    def _lift(self, name: str) -> None:
        what = self._what(name)
        erasing.refuse_without_secret(self.feed)
        feed = decisions.with_recorded(self.lake, self.feed)
        decisions.refuse_unknown_secret(feed)
        assert feed.erasure_key is not None  # refused above
        own = hashed_key(feed.erasure_key, feed.name, name, what.key)
        of_table = [one for one in standing(feed.decisions.erasures) if one.table == name]
        mine = [one for one in of_table if one.key_hash == own]
        if not mine:
            raise DecisionRefused(
                feed.name, f"that key of {name} is not erased; nothing was recorded"
            )
        if self.dry_run:
            self.answer.line(f"{feed.name}: that key of {name} is erased; nothing was recorded")
            return
        signed = self._signed()
        lifted = [replace(one, at=signed.at, lifted=True) for one in mine]
        decisions.erase(self.lake, feed, lifted, signed)
        self.answer.line(
            f"{feed.name}: what lands of that key of {name} from now on comes through; what landed since it was erased"
            f" does after `weir rebuild {feed.name}`"
        )


def _table_of(lake: Lake, feed: Feed, name: str) -> Table:
    known = gold_tables.mirrors(lake, feed)
    if name not in known:
        hint = did_you_mean(name, known)
        raise UnknownKey(
            f"feed {feed.name} has no gold table {name!r}{hint}; it has {', '.join(known) or 'none yet'}"
        )
    return known[name]


def plan_lines(feed: Feed, plan: Plan) -> list[str]:
    """What would go, in words."""
    lines = [
        f"{feed.name}.{plan.table}: {counted(len(plan.records), 'record')} of bronze, of"
        f" {counted(len(plan.windows), 'window')}, and all that was made of them,"
        f" by {counted(len(plan.erasures), 'key')}"
    ]
    if plan.payloads:
        lines.append(
            f"  {counted(len(plan.payloads), 'repaired payload')} of records that were repaired once more since"
        )
    if plan.left:
        lines.append(
            f"  {counted(plan.left, 'record')} that cannot be read hold the text of the key too, and stay:"
            " `--unreadable` erases them as well"
        )
    return lines


def certify(lake: Lake, feed: Feed, done: Progress, answer: CommandAnswer) -> None:
    """Keep the certificate, and say where it is."""
    facts = certificate(feed, done)
    known = answer.of(feed.name).setdefault("certificates", [])
    assert isinstance(known, list)
    known.append(facts)
    _, page = erasure_certificate.store(lake, facts)
    for one in facts["tables"]:
        if one["rows"] or one["files_rewritten"]:
            answer.line(
                f"  {one['table']}: {counted(one['rows'], 'row')} in {counted(one['files_rewritten'], 'file')},"
                f" version {one['version_before']:,} -> {one['version_after']:,}"
            )
    for one in facts["landing"]:
        answer.line(f"  still in the landing: {one['object']}, {counted(one['records'], 'record')}")
    answer.line(f"{feed.name}: erased; the certificate is {page}")


def list_erasures(lake: Lake, feed: Feed, answer: CommandAnswer) -> None:
    """Say which erasures there are, the oldest first."""
    found = record.recorded(lake, feed)
    lifted = {
        one.key_hash for one in decisions.with_recorded(lake, feed).decisions.erasures if one.lifted
    } - {one.key_hash for one in standing(decisions.with_recorded(lake, feed).decisions.erasures)}
    erasure_certificate.store_missing(lake, feed)
    facts = []
    for one in found:
        state = "finished" if one.finished_at else "interrupted: the next `weir run` goes on"
        if one.plan.hashes and one.plan.hashes <= lifted:
            state = "lifted"
        table = one.plan.table or "(landed again)"
        answer.line(
            f"{one.plan.id}  {one.plan.at:%Y-%m-%d %H:%M} UTC  {table}  "
            f"{counted(len(one.plan.records), 'record')}, {state}; {one.plan.by}: {one.plan.reason}"
        )
        facts.append({"erasure": one.plan.id, "table": one.plan.table or None, "state": state})
    answer.line(f"{feed.name}: {counted(len(found), 'erasure')}")
    answer.of(feed.name)["erasures"] = facts
