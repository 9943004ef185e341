"""Dagster's events as lines for a person at a terminal: one per step, and what the steps themselves say.

Put here what of a run's log is shown. Not here: printing a line, and what is printed in silence
(``orchestration/console``).
"""

# No postponed annotations here: Dagster reads the functions' own.
import logging
import re

import dagster as dg

from orchestration.console import begin, say
from orchestration.runs.summary_lines import IN_ALL


class StepsOnly(logging.Filter):
    """Lets through what Weir's own steps log; Dagster's events are for the UI."""

    def filter(self, record: logging.LogRecord) -> bool:
        """True for a line that a step logged itself; a step's start is noted for those who wait."""
        meta = getattr(record, "dagster_meta", {}) or {}
        event, step = meta.get("dagster_event"), meta.get("step_key")
        if event is not None and event.event_type_value == "STEP_START" and step:
            begin(f"working on {asset_of(step)}")
        text = str(meta.get("orig_message", ""))
        # The summary says which check failed, what was left as it was because of it, and what all came to.
        is_consequence = text.startswith(("Dependencies for step", IN_ALL))
        of_step = event is None and step is not None and record.levelno >= logging.INFO
        return of_step and not is_consequence


def asset_of(step: str) -> str:
    """A step's name as the table that it makes: ``bronze__shop`` is bronze.shop."""
    return re.sub(r"__?", ".", step, count=1)


class PlainLine(logging.Formatter):
    """The message alone, with a word in front where it is a warning."""

    def format(self, record: logging.LogRecord) -> str:
        """One line."""
        meta = getattr(record, "dagster_meta", {}) or {}
        text = str(meta.get("orig_message", record.getMessage()))
        return f"  {'warning: ' if record.levelno >= logging.WARNING else ''}{text}"


class Terminal(logging.Handler):
    """Prints every record that it gets."""

    def emit(self, record: logging.LogRecord) -> None:
        """One line of progress."""
        say(self.format(record))


@dg.logger({}, description="One line per step on standard error.")
def progress_lines(init_context: dg.InitLoggerContext) -> logging.Logger:
    """The logger of ``weir run``."""
    logger = logging.Logger("weir", level=logging.DEBUG)
    handler = Terminal()
    handler.setFormatter(PlainLine())
    handler.addFilter(StepsOnly())
    logger.addHandler(handler)
    return logger
