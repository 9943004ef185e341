"""The built-in rules of a feed: those that its format has, as its file sets them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Final

from expectations import bronze, catalogues, gold, silver, source, tigergraph
from expectations.rule import Rule, Severity
from transforms.feed.feed import CheckSetting, Feed
from transforms.formats import FORMATS

SEVERITIES: Final[Mapping[str, Severity]] = {
    "block": "blocking",
    "fail": "failing",
    "warn": "warning",
}
"""What a feed file calls a severity, and what a rule does."""


def known_rules(format_name: str) -> dict[str, Rule]:
    """Every rule that may be judged of a feed of this format, by name."""
    of_graph = tigergraph.RULES if format_name == "tigergraph" else ()
    of_files = bronze.RULES_OF_FILES if FORMATS[format_name].operations_so_far else ()
    every = (
        *source.RULES,
        *source.RULES_OF_COMPARISON,
        *catalogues.RULES,
        *bronze.RULES,
        *bronze.RULES_OF_LANDINGS,
        *of_files,
        *silver.rules_of(format_name),
        *gold.RULES,
        *of_graph,
    )
    return {rule.name: rule for rule in every}


def source_rules(feed: Feed) -> tuple[Rule, ...]:
    """The rules of the feed's source; none where its file says nothing of it."""
    return as_set(source.RULES, feed.checks) if feed.watches_source else ()


def comparison_rules(feed: Feed) -> tuple[Rule, ...]:
    """The rules of comparing the feed's gold with its source."""
    return as_set(source.RULES_OF_COMPARISON, feed.checks)


def catalogue_rules(feed: Feed) -> tuple[Rule, ...]:
    """The rules of the catalogues in which the feed's gold is registered."""
    return as_set(catalogues.RULES, feed.checks)


def bronze_rules(feed: Feed) -> tuple[Rule, ...]:
    """The rules of the feed's bronze: of topics, or of files and of those whose records are numbered."""
    if feed.reads_topics:
        return as_set(bronze.RULES, feed.checks)
    is_numbered = FORMATS[feed.format].operations_so_far is not None
    of_files = bronze.RULES_OF_FILES if is_numbered else ()
    return as_set((*bronze.RULES_OF_LANDINGS, *of_files), feed.checks)


def silver_rules(feed: Feed) -> tuple[Rule, ...]:
    """The rules of the feed's silver."""
    return as_set(silver.rules_of(feed.format), feed.checks)


def gold_rules(feed: Feed) -> tuple[Rule, ...]:
    """The rules of each of its gold tables."""
    return as_set(gold.RULES, feed.checks)


def as_set(rules: Iterable[Rule], settings: Mapping[str, CheckSetting]) -> tuple[Rule, ...]:
    """The rules as a feed file's ``checks`` set them; those that are off are left out."""
    found = []
    for rule in rules:
        setting = settings.get(rule.name)
        if setting is None:
            found += [rule] if rule.is_asked else []
        elif setting.severity != "off":
            severity = SEVERITIES[setting.severity] if setting.severity else rule.severity
            found.append(replace(rule, severity=severity, at_most=setting.at_most))
    return tuple(found)
