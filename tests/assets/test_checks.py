"""What a rule's severity makes of a violation in Dagster."""

from __future__ import annotations

import dagster as dg
import pytest

from assets.gold.checks import samples_of, violations_of
from assets.gold.fold import Applied
from assets.quality import checks
from expectations import gold as rules
from transforms.errors import WeirError
from transforms.silver.discovered_tables import Stopped

# Great Expectations and what it imports use names that Python is about to drop.
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


def test_a_stopped_table_fails_its_check_by_name_and_holds_nothing_up_that_is_downstream() -> None:
    done = Applied(stopped={"pets": Stopped(WeirError("two keys"), ("zoo.pets",))})
    found = {
        one.check_name: one
        for one in checks.results_of_rules(
            ["gold", "zoo", "pets"],
            rules.RULES,
            violations_of(done),
            ["2025-11-20T03"],
            samples_of(done),
        )
    }
    failed = found.pop("every_table_is_made")
    assert (failed.passed, failed.severity) == (False, dg.AssetCheckSeverity.ERROR)
    assert "gold is unchanged for pets: two keys" in str(failed.description)
    # As Markdown what was found is a list, and what to do a paragraph of its own behind it.
    assert "\n\n- `gold is unchanged" in str(failed.description)
    assert "two keys`\n\n" in str(failed.description)
    assert all(one.passed for one in found.values())
    specs = {one.name: one.blocking for one in checks.specs_of_rules(["gold", "zoo"], rules.RULES)}
    assert specs["every_table_is_made"] is False
    assert specs["one_row_per_key"] is True
