"""The expectations that a feed file declares, as asset checks, and the rows of tables that they are asked of."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

import dagster as dg
import pyarrow as pa
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import from_arrow_schema

from assets.columns.quoting import quoted
from assets.executors.spark import kept_on_disk
from assets.feed_assets import OF_EXPECTATIONS, markdown_metadata
from assets.quality.data_docs import QualityFolder
from assets.storage.lake import Lake, Layer
from assets.wording import counted
from expectations.suites import ONLY_PANDAS, ONLY_SPARK, ExpectationAnswer, Rows, ask
from transforms.display import code, table
from transforms.feed.feed import DeclaredExpectation, DeclaredSuite, Feed, SuiteLayer, Table
from transforms.gold.columns import key_columns


@dataclass(frozen=True, slots=True)
class Asked:
    """The answers to a suite's expectations, by check, for each of the tables asked about.

    ``results``: what Great Expectations has to store of them. ``page``: where answers of an earlier run are shown,
    which hold still, because the table has not changed since.
    """

    suite: DeclaredSuite
    answers: Mapping[str, Sequence[ExpectationAnswer]]
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
    for needs_pandas in (False, True):
        part = [one for one in expectations if (one.kind in ONLY_PANDAS) is needs_pandas]
        if part:
            yield part


def ask_silver(lake: Lake, feed: Feed, suite: DeclaredSuite, windows: Sequence[str]) -> Asked:
    """Ask what silver has of these windows."""
    answers: list[ExpectationAnswer] = []
    results: list[Mapping[str, Any]] = []
    for part in parts_of(suite.expectations):
        with _rows(lake, (Layer.SILVER, feed.name, None), part, COORDINATES, windows) as rows:
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
    answers: dict[str, list[ExpectationAnswer]] = {one.check: [] for one in suite.expectations}
    results: list[Mapping[str, Any]] = []
    key = [one for one in key_columns(table) if not one.startswith(OWN)]
    for name in versions:
        for part in parts_of(suite.expectations):
            with _rows(lake, (Layer.GOLD, feed.name, name), part, key) as rows:
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
            one.check: [
                ExpectationAnswer(declared=one, **each) for each in kept["answers"][one.check]
            ]
            for one in self.suite.expectations
        }
        return Asked(self.suite, answers, page=kept["page"])

    def write(self, asked: Asked, page: str) -> None:
        """Keep answers, in place of the last ones."""
        kept = {
            check: [
                {
                    name: getattr(one, name)
                    for name in ExpectationAnswer.__slots__
                    if name != "declared"
                }
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


def answer_in_words(answer: ExpectationAnswer) -> str:
    """What an expectation found, as a sentence, with some of the rows that break it."""
    if answer.error is not None:
        return f"{code(answer.description)}: could not be asked: {code(answer.error)}"
    if answer.passed:
        return code(answer.description)
    if answer.broken is not None:
        found = f"{counted(answer.broken, 'row')} of {answer.asked or 0:,} break it"
    else:
        found = f"found {code(answer.observed)}"
    shown = ", ".join(
        code(" ".join(f"{name}={value}" for name, value in row.items()))
        for row in answer.samples[:3]
    )
    return f"{code(answer.description)}: {found}" + (f", such as {shown}" if shown else "")


def _metadata(
    answers: Sequence[ExpectationAnswer], failed: Sequence[ExpectationAnswer]
) -> dict[str, Any]:
    asked = [one.asked for one in answers if one.asked is not None]
    broken = [one.broken for one in answers if one.broken is not None]
    observed = [one.observed for one in answers if one.observed is not None]
    samples = [row for one in failed for row in one.samples]
    head = list(dict.fromkeys(name for row in samples for name in row))
    shown = table(head, [[row.get(name) for name in head] for row in samples])
    return {
        **({"observed": ", ".join(observed)} if observed else {}),
        **({"rows": sum(asked)} if asked else {}),
        **({"violations": sum(broken)} if broken else {}),
        **({"found": markdown_metadata(shown)} if samples else {}),
    }


OWN: Final = "_weir_"
"""What Weir's columns of gold begin with: they are in the frame where an expectation names them."""

COORDINATES: Final = ("window", "table", "key_text", "event_id", "object", "line")
"""What tells a reader which row of silver breaks an expectation."""

OF_ALL_COLUMNS: Final = ("expect_table_column", "expect_column_to_exist", "unexpected_rows")
"""How the expectations begin that are about columns which they do not name."""


def _in_pandas(kind: pa.DataType) -> object:
    """A type that can be null: by default whole numbers with nulls become floating, which changes large ones."""
    # Imported late: every run's process loads this module, and few feeds declare expectations.
    import pandas as pd

    if pa.types.is_boolean(kind):
        return pd.BooleanDtype()
    if pa.types.is_signed_integer(kind):
        return pd.api.types.pandas_dtype(f"Int{kind.bit_width}")
    return None


def version_of_gold(lake: Lake, feed: Feed, name: str) -> int:
    """The number of the table's newest commit; -1 where there is no such table."""
    return lake.in_process_table(Layer.GOLD, feed.name, name).version


@contextmanager
def _rows(
    lake: Lake,
    place: tuple[Layer, str, str | None],
    asked: Sequence[DeclaredExpectation],
    key: Sequence[str],
    windows: Sequence[str] | None = None,
) -> Iterator[Rows]:
    """The rows of a table as it is now, in this process where they are few; they are freed when the context ends."""
    table = lake.in_process_table(*place)
    wanted = wanted_columns(table.schema, key, asked)
    types = {one.name: one.dataType.simpleString() for one in from_arrow_schema(wanted).fields}
    where = None if windows is None else {"window": windows}
    files = table.files(where)
    kinds = {one.kind for one in asked}
    sizes = sum(one.size for one in files), sum(one.rows for one in files)
    fits = lake.choice.fits_in_process(*sizes)
    if (fits and not kinds & ONLY_SPARK) or kinds <= ONLY_PANDAS:
        yield Rows(
            table.read(wanted, where).to_pandas(types_mapper=_in_pandas), False, types, [*key]
        )
        return
    frame = lake.table(*place).read()
    if windows is not None:
        frame = frame.where(F.col("window").isin(*windows))
    # Great Expectations asks for several jobs: what it is asked about is read once.
    once = kept_on_disk(frame.select(*(quoted(one) for one in wanted.names)))
    try:
        yield Rows(once, True, types, [*key])
    finally:
        once.unpersist()


def wanted_columns(
    stored: pa.Schema, key: Sequence[str], asked: Sequence[DeclaredExpectation]
) -> pa.Schema:
    """The columns of the frame: of the key, those named, and all others where the table's columns are asked for."""
    named = [
        one for one in stored if one.name in key or any(one.name in _named(each) for each in asked)
    ]
    # Rows without any column could not be counted.
    if named and not any(one.kind.startswith(OF_ALL_COLUMNS) for one in asked):
        return pa.schema(named)
    return pa.schema([one for one in stored if one in named or _is_shown(one)])


def _is_shown(column: pa.Field) -> bool:
    """Whether it holds single values and is none of Weir's own: lists and maps cannot be sorted, counted or shown."""
    return not column.name.startswith(OWN) and not pa.types.is_nested(column.type)


def _named(one: DeclaredExpectation) -> str:
    """All that is written in an expectation, as one text in which its columns stand."""
    return f"{one.column} {one.arguments}"
