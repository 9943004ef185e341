"""A job per feed that asks its tables as they stand and makes Data Docs, for who looks at the UI and not at a terminal.

Put here what Dagster runs for it. Not here: when runs make pages by themselves (``assets/quality/pages``), and the
command (``orchestration/cli/documents/data_docs.py``).
"""

# No postponed annotations here: Dagster reads the functions' own.
import dagster as dg

from assets.audit import stored_tables
from assets.lake import Lake
from assets.quality.pages import build_pages_of
from assets.quality.quality_folder import link_to
from assets.wording import counted
from transforms.feed.feed import Feed


def data_docs_name(feed: Feed) -> str:
    """The name of the job."""
    return f"{feed.name}_data_docs"


def build(feed: Feed) -> dg.JobDefinition:
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
        name=data_docs_name(feed),
        executor_def=dg.in_process_executor,
        description=f"Asks the tables of feed {feed.name} as they stand, and makes Data Docs of all results.",
        tags={"feed": feed.name},
    )
    def job() -> None:
        make()

    return job
