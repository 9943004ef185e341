"""The table of built-in rules in docs/checks.md, made from the code: ``python -m tests.expectations.rules_in_docs``."""

from __future__ import annotations

from collections.abc import Iterable

from expectations import bronze, catalogues, cuts, gold, silver, source, tigergraph
from expectations.rule import Rule
from transforms.formats import FORMATS

WORDS = {"blocking": "block", "failing": "fail", "warning": "warn"}


def table() -> str:
    """One line per rule: its name, where it is judged, its severity, and what it says."""
    own: dict[str, list[str]] = {}
    says: dict[str, str] = {}
    for name, known in sorted(FORMATS.items()):
        for warning in known.warnings:
            own.setdefault(warning.rule, []).append(f"`{name}`")
            says[warning.rule] = warning.says
    numbered = [f"`{name}`" for name, one in sorted(FORMATS.items()) if one.operations_so_far]
    lines = [
        *_lines("the landing, where `health` or `source` is declared", source.RULES),
        *_lines(
            "the comparison with the source, where `source` is declared", source.RULES_OF_COMPARISON
        ),
        *_lines("the catalogues, where `WEIR_CATALOGUES` names some", catalogues.RULES),
        *_lines("bronze, of topics", bronze.RULES),
        *_lines("bronze, of files", bronze.RULES_OF_LANDINGS),
        *_lines(f"bronze, of {', '.join(numbered)}", bronze.RULES_OF_FILES),
        *_lines("silver", silver.COMMON),
        *(
            f"| `{rule}` | silver, of {', '.join(formats)} | warn | {says[rule]} |"
            for rule, formats in own.items()
        ),
        *_lines("each gold table", gold.RULES),
        *_lines("the cuts, of `debezium` with a topic of transactions", cuts.RULES),
        *_lines("the graph, of `tigergraph`", tigergraph.RULES),
    ]
    return "\n".join(["| check | of | severity | says |", "|---|---|---|---|", *lines])


def _lines(of: str, rules: Iterable[Rule]) -> list[str]:
    return [f"| `{rule.name}` | {of} | {_severity(rule)} | {rule.says} |" for rule in rules]


def _severity(rule: Rule) -> str:
    if not rule.is_asked:
        return f"off, then {WORDS[rule.severity]}"
    return f"{WORDS[rule.severity]}, always" if rule.is_fixed else WORDS[rule.severity]


if __name__ == "__main__":
    print(table())
