"""Every check, with what follows from a violation and what to do, from the rules that the code has."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator

import expectations
from docs.site.reference.markdown import code, page, prose, table
from expectations.rule import Rule
from expectations.suites import import_gx
from transforms.formats import FORMATS

INTRO = """Each rule is a check of an asset in Dagster's UI, and a line of a run's report. From a violation follows:

- **blocking**: nothing downstream starts.
- **failing**: the run goes on, and ends with 1.
- **warning**: the run only reports it.

[architecture.md](../architecture.md#checks) says how they are counted."""

HEAD = ("check", "severity", "what must be true", "what to do where it is not")


def checks() -> str:
    """The page ``checks.md``."""
    return page("Checks", INTRO, *of_every_table(), of_formats())


def of_every_table() -> Iterator[str]:
    """A section for each module that has rules."""
    # Some modules import it at their top, which in processes without a main file ends the process (``gx``).
    import_gx()
    for module in sorted(
        one.name for one in pkgutil.walk_packages(expectations.__path__, "expectations.")
    ):
        loaded = importlib.import_module(module)
        rules = [one for one in vars(loaded).values() if isinstance(one, Rule)]
        if rules:
            title = (loaded.__doc__ or "").split(". ")[0].splitlines()[0].rstrip(".")
            rows = [row(rule) for rule in dict.fromkeys(rules)]
            yield "\n".join([f"## {title}\n", table(HEAD, rows)])


def of_formats() -> str:
    """A section for what single formats warn of."""
    rows = [
        [code(one.rule), code(name), prose(one.says), prose(one.remedy)]
        for name, known in sorted(FORMATS.items())
        for one in known.warnings
    ]
    head = (HEAD[0], "format", *HEAD[2:])
    intro = "These are warnings, counted in the window's changes.\n"
    return "\n".join(["## What single formats warn of\n", intro, table(head, rows)])


def row(rule: Rule) -> list[str]:
    """A rule's line."""
    return [code(rule.name), rule.severity, prose(rule.says), prose(rule.remedy)]
