"""Data Docs of a feed, made from the results that are kept.

Put here when pages are made. Not here: how (``expectations/data_docs``).
"""

from __future__ import annotations

from assets.delta.store_faults import naming_store_faults
from assets.quality.quality_folder import FOLDER, QualityFolder
from assets.quality.remote_pages import RESULTS, fetched
from expectations import data_docs


def build_pages_of(warehouse: str, feed: str) -> tuple[int, str]:
    """Make the pages of results that have none yet: how many there were, and where the first page is ("": nowhere).

    It imports Great Expectations, which takes seconds: a run does it for feeds that declare expectations, for which it
    is imported anyway, and others have their pages when somebody opens one, or calls ``weir data-docs``.
    """
    folder = QualityFolder(warehouse, feed)
    with naming_store_faults(FOLDER, warehouse):
        if not folder.is_remote:
            place = folder.file("")
            made = data_docs.build_pages(feed, str(place)) if place.is_dir() else 0
            return made, folder.index if place.is_dir() else ""
        bucket, prefix = folder.object("")
        with fetched(bucket, prefix.rstrip("/")) as here:
            any_kept = (here / RESULTS).is_dir()
            made = data_docs.build_pages(feed, str(here)) if any_kept else 0
            return made, folder.index if any_kept else ""
