"""Data Docs: Great Expectations' own pages of the results that runs have stored, and of the suites behind them."""

from __future__ import annotations

from functools import cache
from typing import Any, Final

from expectations import suites

LISTED: Final = 100
"""So many of the newest results are on the first page, which reads each of them."""

KEPT: Final = 1000
"""So many of a feed's newest results are kept; older ones are removed when pages are made."""


def build_pages(name: str, folder: str) -> int:
    """Make the pages of results that have none yet, and the first page again; how many results were new.

    ``name``: what the pages are headed; ``folder``: where the results are, and where the pages go.
    """
    context = _context(folder)
    results = context.validation_results_store
    stored = sorted(results.list_keys(), key=lambda key: key.run_id.run_time)
    for old in stored[:-KEPT]:
        results.remove_key(old)
    builder = _builder(context, name, folder)
    shown = _shown(builder)
    new = [key for key in stored[-KEPT:] if key.to_tuple() not in shown]
    if not new:
        return 0
    newest = {key.expectation_suite_identifier: key for key in new}
    for suite, key in newest.items():
        context.suites.add_or_update(_suite(suite.name, results.get(key)))
    builder.build(resource_identifiers=[*new, *newest])
    return len(new)


def _shown(builder: Any) -> set[tuple[str, ...]]:
    """Which results have a page."""
    from great_expectations.data_context.types.resource_identifiers import (
        ValidationResultIdentifier,
    )

    pages = builder.target_store.store_backends[ValidationResultIdentifier]
    return {tuple(key) for key in pages.list_keys()}


def _suite(name: str, result: Any) -> Any:
    module = suites.import_gx()
    return module.ExpectationSuite(
        name=name, expectations=[one.expectation_config.to_domain_obj() for one in result.results]
    )


def _context(folder: str) -> Any:
    module = suites.import_gx()
    know_rules()
    from great_expectations.data_context.types.base import DataContextConfig

    stores = {
        "expectations": {
            "class_name": "ExpectationsStore",
            "store_backend": _backend(f"{folder}/expectations", ".json"),
        },
        "results": {
            "class_name": "ValidationResultsStore",
            "store_backend": _backend(f"{folder}/validations", ".json"),
        },
    }
    config = DataContextConfig(
        expectations_store_name="expectations",
        validation_results_store_name="results",
        stores=stores,
        analytics_enabled=False,
    )
    return module.get_context(mode="ephemeral", project_config=config)


def _builder(context: Any, name: str, folder: str) -> Any:
    from great_expectations.render.renderer.site_builder import SiteBuilder

    return SiteBuilder(
        data_context=context,
        store_backend=_backend(f"{folder}/data_docs"),
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


def _backend(folder: str, ending: str | None = None) -> dict[str, str]:
    """Great Expectations' settings for the files of one folder."""
    where = {"class_name": "TupleFilesystemStoreBackend", "base_directory": folder}
    return where | ({"filepath_suffix": ending} if ending else {})


# The built-in rules as Great Expectations' pages show them: as an expectation of their own kind.


@cache
def know_rules() -> None:
    """Make Great Expectations know ``expect_rule_to_hold``, which the results of built-in rules are stored as.

    Defining the class registers it, by its name; that is done here, because the base class takes seconds to import.
    """
    suites.import_gx()
    from great_expectations.expectations.expectation import BatchExpectation
    from great_expectations.render.components import (
        CollapseContent,
        LegacyDiagnosticRendererType,
        RenderedTableContent,
    )
    from great_expectations.render.renderer.renderer import renderer

    class ExpectRuleToHold(BatchExpectation):
        """A rule of Weir's own, which a run has counted in the pass that wrote the table."""

        rule: str
        at_most: int = 0

        def _validate(self, *_: Any, **__: Any) -> Any:
            # Great Expectations takes a class without it as an abstract one.
            raise NotImplementedError("a run has counted it")

        @classmethod
        @renderer(renderer_type=LegacyDiagnosticRendererType.UNEXPECTED_TABLE)
        def _diagnostic_unexpected_table_renderer(
            cls, configuration: Any = None, result: Any = None, runtime_configuration: Any = None
        ) -> list[RenderedTableContent | CollapseContent] | None:
            lines = result.result.get("found") if result else None
            if not lines:
                return None
            return [
                RenderedTableContent(
                    content_block_type="table",
                    table=[[line.removeprefix("- ")] for line in lines],
                    header_row=["Found"],
                    styling={"body": {"classes": ["table-bordered", "table-sm", "mt-3"]}},
                )
            ]
