"""The expectations that a feed file declares, as asset checks: what Dagster is shown before a run and after it.

Put here how a declared expectation is asked and shown. Not here: the rows that it is asked about (``table_rows``),
where answers are kept (``kept_results``), and the built-in checks (``assets/checks``).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import dagster as dg

from assets.lake import Lake
from assets.metadata_words import OF_EXPECTATIONS
from assets.quality.quality_folder import QualityFolder
from assets.quality.table_rows import rows_of_gold, rows_of_silver, version_of_gold
from assets.shown_markdown import as_metadata
from assets.wording import counted
from expectations.suites.asked import Answer, ask
from expectations.suites.declared import ONLY_PANDAS
from transforms.display.markdown import Markdown, code, table
from transforms.feed.checks import DeclaredExpectation, DeclaredSuite, SuiteLayer
from transforms.feed.feed import Feed, Table


@dataclass(frozen=True, slots=True)
class Asked:
    """The answers to a suite's expectations, by check, for each of the tables asked about.

    ``results``: what Great Expectations has to store of them. ``page``: where answers of an earlier run are shown,
    which hold still, because the table has not changed since.
    """

    suite: DeclaredSuite
    answers: Mapping[str, Sequence[Answer]]
    results: Sequence[Mapping[str, Any]] = ()
    page: str | None = None


def suite_of(feed: Feed, layer: SuiteLayer, table: str | None = None) -> DeclaredSuite | None:
    """The feed's suite of a table in gold, or of silver; None where it declares none."""
    for suite in feed.suites:
        if (suite.layer, suite.table) == (layer, table) and suite.expectations:
            return suite
    return None


def specs_of_suite(asset: dg.AssetKey, suite: DeclaredSuite | None) -> list[dg.AssetCheckSpec]:
    """One check per expectation. Where a blocking one fails, Dagster does not start the assets downstream."""
    if suite is None:
        return []
    return [
        dg.AssetCheckSpec(
            name=one.check,
            asset=asset,
            description=f"{code(one.kind)}, as the feed file declares under {code(one.key)}.\n\n{OF_EXPECTATIONS}",
            blocking=one.severity == "block",
        )
        for one in suite.expectations
    ]


def parts_of(
    expectations: Sequence[DeclaredExpectation],
) -> Iterator[Sequence[DeclaredExpectation]]:
    """The expectations in parts, each of which can be asked in one way: those that need pandas by themselves."""
    for part in (
        [one for one in expectations if one.kind not in ONLY_PANDAS],
        [one for one in expectations if one.kind in ONLY_PANDAS],
    ):
        if part:
            yield part


def ask_silver(lake: Lake, feed: Feed, suite: DeclaredSuite, windows: Sequence[str]) -> Asked:
    """Ask what silver has of these windows."""
    answers: list[Answer] = []
    results: list[Mapping[str, Any]] = []
    for part in parts_of(suite.expectations):
        with rows_of_silver(lake, feed, windows, part) as rows:
            found, of_part = ask(f"silver_{feed.name}", part, rows)
        answers += found
        results += of_part
    return Asked(suite, {one.declared.check: [one] for one in answers}, results)


def ask_gold(
    lake: Lake, feed: Feed, suite: DeclaredSuite, table: Table, names: Sequence[str]
) -> Asked:
    """Ask the gold tables of one declared table; answers of an earlier run are taken where they have not changed."""
    versions = {name: version_of_gold(lake, feed, name) for name in names}
    versions = {name: version for name, version in versions.items() if version >= 0}
    remembered = _Remembered(QualityFolder(lake.warehouse, feed.name), suite, versions)
    earlier = remembered.read()
    if earlier is not None:
        return earlier
    answers: dict[str, list[Answer]] = {one.check: [] for one in suite.expectations}
    results: list[Mapping[str, Any]] = []
    for name in versions:
        for part in parts_of(suite.expectations):
            with rows_of_gold(lake, feed, table, name, part) as rows:
                found, of_part = ask(f"gold_{feed.name}_{name}", part, rows)
            results += of_part
            for one in found:
                answers[one.declared.check].append(one)
    return Asked(suite, answers, results)


def remember(lake: Lake, feed: Feed, asked: Asked, names: Sequence[str], page: str) -> None:
    """Keep the answers for runs that find the gold tables as they are now; ``page``: where they are shown."""
    versions = {name: version_of_gold(lake, feed, name) for name in names}
    folder = QualityFolder(lake.warehouse, feed.name)
    _Remembered(folder, asked.suite, versions).write(asked, page)


@dataclass(frozen=True, slots=True)
class _Remembered:
    """The last answers of one suite, and the versions of the tables that they are about."""

    folder: QualityFolder
    suite: DeclaredSuite
    versions: Mapping[str, int]

    @property
    def _path(self) -> str:
        return f"answers/{self.suite.table}.json"

    @property
    def _asked_for(self) -> Any:
        said = [
            [one.check, one.kind, one.column, dict(one.arguments), one.severity]
            for one in self.suite.expectations
        ]
        return json.loads(json.dumps({"versions": dict(self.versions), "expectations": said}))

    def read(self) -> Asked | None:
        """The answers, where neither the tables nor the suite have changed since."""
        text = self.folder.read(self._path)
        kept = json.loads(text) if text else {}
        if kept.get("asked") != self._asked_for:
            return None
        answers = {
            one.check: [Answer(declared=one, **each) for each in kept["answers"][one.check]]
            for one in self.suite.expectations
        }
        return Asked(self.suite, answers, page=kept["page"])

    def write(self, asked: Asked, page: str) -> None:
        """Keep answers, in place of the last ones."""
        kept = {
            check: [
                {name: getattr(one, name) for name in Answer.__slots__ if name != "declared"}
                for one in some
            ]
            for check, some in asked.answers.items()
        }
        content = {"asked": self._asked_for, "page": page, "answers": kept}
        self.folder.write(self._path, json.dumps(content, default=str))


def results_of_suite(asset: dg.AssetKey, asked: Asked) -> Iterator[dg.AssetCheckResult]:
    """One result per expectation: what was found, and samples of the rows that break it, with their keys."""
    for one in asked.suite.expectations:
        answers = asked.answers[one.check]
        failed = [answer for answer in answers if not answer.passed]
        yield dg.AssetCheckResult(
            check_name=one.check,
            asset_key=asset,
            passed=not failed,
            severity=dg.AssetCheckSeverity.ERROR
            if one.severity == "block"
            else dg.AssetCheckSeverity.WARN,
            description="\n".join(answer_in_words(answer) for answer in failed or answers[:1]),
            metadata=_metadata(answers, failed),
        )


def answer_in_words(answer: Answer) -> str:
    """What an expectation found, as a sentence, with some of the rows that break it."""
    if answer.error is not None:
        return f"{code(answer.description)}: could not be asked: {code(answer.error)}"
    if answer.passed:
        return code(answer.description)
    if answer.broken is not None:
        found = f"{counted(answer.broken, 'row')} of {answer.asked or 0:,} break it"
    else:
        found = f"found {code(answer.observed)}"
    shown = ", ".join(_row_in_words(one) for one in answer.samples[:3])
    return f"{code(answer.description)}: {found}" + (f", such as {shown}" if shown else "")


def _row_in_words(row: Mapping[str, object]) -> str:
    return code(" ".join(f"{name}={value}" for name, value in row.items()))


def _metadata(answers: Sequence[Answer], failed: Sequence[Answer]) -> dict[str, Any]:
    asked = [one.asked for one in answers if one.asked is not None]
    broken = [one.broken for one in answers if one.broken is not None]
    observed = [one.observed for one in answers if one.observed is not None]
    samples = [row for one in failed for row in one.samples]
    return {
        **({"observed": ", ".join(observed)} if observed else {}),
        **({"rows": sum(asked)} if asked else {}),
        **({"violations": sum(broken)} if broken else {}),
        **({"found": as_metadata(_as_table(samples))} if samples else {}),
    }


def _as_table(rows: Sequence[Mapping[str, object]]) -> Markdown:
    """Rows as a table."""
    head = list(dict.fromkeys(name for row in rows for name in row))
    return table(head, [[row.get(name) for name in head] for row in rows])
