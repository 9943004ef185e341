"""Data Docs: Great Expectations' own pages of the results that runs have stored, and of the suites behind them.

Declared expectations were asked in the run, and what Great Expectations answered is shown as it was. Of the built-in
rules a run keeps counts: they become a small frame, with a column for each rule, and Great Expectations is asked
whether each count is at most what the rule lets pass.
"""

from __future__ import annotations

import html
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from expectations import suites

LISTED: Final = 100
"""Maximum number of results on the first page, the newest ones: the page reads each of them."""

KEPT: Final = 1000
"""Maximum number of a feed's results that are kept; older ones are removed when pages are made."""

RESULTS: Final = "results"
"""What runs have kept (``validation_results``)."""

VALIDATIONS: Final = "validations"
"""The same as Great Expectations keeps it, made with the pages."""

PAGES: Final = "data_docs/validations"

_SEVERITIES: Final = {"blocking": "critical", "failing": "critical", "warning": "warning"}


def build_pages(name: str, folder: Path) -> int:
    """Make the pages of results that have none yet, and the first page again; how many results were new.

    ``name``: what the pages are headed; ``folder``: where the results are, and where the pages go.
    """
    results = {
        file.relative_to(folder / RESULTS).with_suffix("").as_posix(): file
        for file in sorted((folder / RESULTS).rglob("*.json"), key=lambda file: file.parent.name)
    }
    for old in [*results][:-KEPT]:
        results.pop(old).unlink()
        (folder / VALIDATIONS / f"{old}.json").unlink(missing_ok=True)
    new = [path for path in results if not (folder / PAGES / f"{path}.html").exists()]
    if not new:
        return 0
    context = _context(folder)
    from great_expectations.data_context.types.resource_identifiers import (
        ExpectationSuiteIdentifier,
        ValidationResultIdentifier,
    )

    batch = context.data_sources.add_pandas(name="weir").add_dataframe_asset(name="counts")
    counts = batch.add_batch_definition_whole_dataframe("of a run")
    pages, suites = [], {}
    for path in new:
        kept = json.loads(results[path].read_text(encoding="utf-8"))
        file = folder / VALIDATIONS / f"{path}.json"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(_validated(kept, counts)), encoding="utf-8")
        parts = tuple(path.split("/"))
        pages.append(ValidationResultIdentifier.from_tuple(parts))  # type: ignore[no-untyped-call]
        suites[kept["suite"]] = pages[-1]
    for suite, key in suites.items():
        context.suites.add_or_update(_suite(suite, context.validation_results_store.get(key)))
    named = [ExpectationSuiteIdentifier(suite) for suite in suites]
    _builder(context, name, folder).build(resource_identifiers=[*pages, *named])
    return len(new)


def _validated(kept: Mapping[str, Any], counts: Any) -> dict[str, Any]:
    """What a run has kept, as Great Expectations' result of one suite."""
    rules = [one for one in kept["results"] if "rule" in one]
    answers = [one for one in kept["results"] if "rule" not in one]
    results = [*(_asked(kept["suite"], rules, counts) if rules else ()), *answers]
    passed = sum(bool(one["success"]) for one in results)
    return {
        "success": passed == len(results),
        "results": results,
        "suite_name": kept["suite"],
        "suite_parameters": {},
        "statistics": {
            "evaluated_expectations": len(results),
            "successful_expectations": passed,
            "unsuccessful_expectations": len(results) - passed,
            "success_percent": 100 * passed / len(results) if results else None,
        },
        "meta": {
            "great_expectations_version": suites.import_gx().__version__,
            "batch_spec": {"data_asset_name": kept["suite"]},
            "active_batch_definition": {
                "datasource_name": "weir",
                "data_connector_name": "fluent",
                "data_asset_name": kept["suite"],
                "batch_identifiers": {"windows": kept["windows"]},
            },
            "run_id": {"run_name": kept["windows"], "run_time": kept["at"]},
            "validation_time": kept["at"],
        },
        "id": None,
    }


def _asked(suite: str, rules: Sequence[Mapping[str, Any]], counts: Any) -> list[dict[str, Any]]:
    """What Great Expectations finds of the counts of built-in rules: a frame of one row, with a column each."""
    import pandas as pd

    module = suites.import_gx()
    expectations = [
        module.expectations.ExpectColumnMaxToBeBetween(
            column=one["rule"],
            max_value=one["at_most"],
            severity=_SEVERITIES[one["severity"]],
            description=_described(one),
            meta={"check": one["rule"], "says": _said(one)},
        )
        for one in rules
    ]
    frame = pd.DataFrame({one["rule"]: [one["violations"]] for one in rules})
    result = counts.get_batch(batch_parameters={"dataframe": frame}).validate(
        module.ExpectationSuite(name=suite, expectations=expectations)
    )
    found = [*result.to_json_dict()["results"]]
    for one in found:
        one["expectation_config"]["kwargs"].pop("batch_id", None)
    return found


def _said(rule: Mapping[str, Any]) -> str:
    return f"{rule['rule']}: {rule['says']}"


def _described(rule: Mapping[str, Any]) -> str:
    """What the rule says, and a line for each thing found; Great Expectations takes a description for HTML."""
    found = [line.removeprefix("- ") for line in rule["found"]]
    return "<br>".join(html.escape(line, quote=False) for line in (_said(rule), *found))


def _suite(name: str, result: Any) -> Any:
    """The suite behind a result; what that one run found is none of it."""
    made = [one.expectation_config.to_domain_obj() for one in result.results]
    for one in made:
        one.description = one.meta.get("says", one.description)
    return suites.import_gx().ExpectationSuite(name=name, expectations=made)


def _context(folder: Path) -> Any:
    module = suites.import_gx()
    from great_expectations.data_context.types.base import DataContextConfig

    stores = {
        "expectations": {
            "class_name": "ExpectationsStore",
            "store_backend": _backend(folder / "expectations", ".json"),
        },
        "results": {
            "class_name": "ValidationResultsStore",
            "store_backend": _backend(folder / VALIDATIONS, ".json"),
        },
    }
    config = DataContextConfig(
        expectations_store_name="expectations",
        validation_results_store_name="results",
        stores=stores,
        analytics_enabled=False,
    )
    context = module.get_context(mode="ephemeral", project_config=config)
    context.variables.progress_bars = {"globally": False}
    return context


def _builder(context: Any, name: str, folder: Path) -> Any:
    from great_expectations.render.renderer.site_builder import SiteBuilder

    return SiteBuilder(
        data_context=context,
        store_backend=_backend(folder / "data_docs"),
        site_name=name,
        show_how_to_buttons=False,
        site_index_builder={
            "class_name": "DefaultSiteIndexBuilder",
            "validation_results_limit": LISTED,
            "view": _view("IndexPageView"),
        },
        site_section_builders={
            "expectations": {"view": _view("PageView")},
            "validations": {"view": _view("PageView")},
        },
    )


def _view(name: str) -> dict[str, str]:
    return {"module_name": "expectations.page_views", "class_name": name}


def _backend(folder: Path, ending: str | None = None) -> dict[str, str]:
    """Great Expectations' settings for the files of one folder."""
    where = {"class_name": "TupleFilesystemStoreBackend", "base_directory": str(folder)}
    return where | ({"filepath_suffix": ending} if ending else {})
