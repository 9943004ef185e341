"""What a person at a terminal sees while Weir works: one line per step, errors without a wall of text."""

# No postponed annotations here: Dagster reads the functions' own.
import logging
import sys

import dagster as dg


class OnlyWeir(logging.Filter):
    """Lets through what Weir's own steps say; Dagster's events are for the UI."""

    def filter(self, record: logging.LogRecord) -> bool:
        """True for a line that a step logged itself."""
        meta = getattr(record, "dagster_meta", {}) or {}
        return meta.get("dagster_event") is None and meta.get("step_key") is not None


class Line(logging.Formatter):
    """The message alone, with a word in front where it is a warning."""

    def format(self, record: logging.LogRecord) -> str:
        """One line."""
        meta = getattr(record, "dagster_meta", {}) or {}
        text = str(meta.get("orig_message", record.getMessage()))
        return f"  {'warning: ' if record.levelno >= logging.WARNING else ''}{text}"


@dg.logger({}, description="One line per step on standard error.")
def progress_lines(init_context: dg.InitLoggerContext) -> logging.Logger:
    """The logger of ``weir run``."""
    logger = logging.Logger("weir", level=logging.INFO)
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(Line())
    handler.addFilter(OnlyWeir())
    logger.addHandler(handler)
    return logger


def say(text: str) -> None:
    """One line of progress, on standard error: standard output is for results."""
    print(text, file=sys.stderr, flush=True)
