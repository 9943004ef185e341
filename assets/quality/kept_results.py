"""What the checks of a table found in a run: kept in the warehouse, and linked from each check.

Put here when a result is stored and where its page is. Not here: the form in which it is stored
(``expectations/validation_results``), and making the pages (``expectations/data_docs``).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import dagster as dg

from assets.asset_keys import table_name_of
from assets.lake import Lake
from assets.quality.quality_folder import QualityFolder, link_to
from expectations.validation_results import ResultPlace, result_in_json
from transforms.feed.feed import Feed


def place_of(asset: Sequence[str], windows: Sequence[str]) -> ResultPlace:
    """The place of a result that an asset's checks have now, for these windows."""
    named = windows[0] if len(windows) == 1 else f"{windows[0]}..{windows[-1]}"
    return ResultPlace(table_name_of(asset), named, datetime.now(UTC))


def keep(lake: Lake, feed: Feed, place: ResultPlace, results: Sequence[Mapping[str, Any]]) -> str:
    """Store what the checks of a table found; returns the link to its page, which is made when it is asked for."""
    folder = QualityFolder(lake.warehouse, feed.name)
    text = json.dumps(result_in_json(place, results), default=str)
    folder.write(f"validations/{place.path}.json", text)
    return link_to(feed.name, f"validations/{place.path}.html")


def linked(results: Iterable[dg.AssetCheckResult], page: str) -> Iterator[dg.AssetCheckResult]:
    """The results, each with the link to its page in Data Docs; as they are where no result was kept."""
    for one in results:
        yield dg.AssetCheckResult(
            check_name=one.check_name,
            asset_key=one.asset_key,
            passed=one.passed,
            severity=one.severity,
            description=one.description,
            metadata={
                **one.metadata,
                **({"data_docs": dg.MetadataValue.url(page)} if page else {}),
            },
        )
