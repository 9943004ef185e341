"""What a run prints at its end."""

from __future__ import annotations

import io

import dagster as dg
import pytest

from orchestration.observability.drift_lines import NEW_DRIFT
from orchestration.runs import summary
from orchestration.runs.outcome import Outcome
from orchestration.runs.planning import RunPlan
from orchestration.sheets import Sheet
from transforms.display import code_block
from transforms.feed.feed import Feed

FEED = Feed("shop", "arcion_s3_json", "/nowhere")


def account(table: str | None, *numbers: int) -> object:
    names = ("events", "changes", "duplicates", "quarantined", "control", "held", "too_late")
    return {"table": table, **dict.fromkeys(names, 0), **dict(zip(names, numbers, strict=False))}


def outcome(*metadata: tuple[str, dict[str, object]]) -> Outcome:
    return Outcome(
        RunPlan(FEED, ["2025-11-20T03"], [], []),
        [(tuple(path.split("/")), values) for path, values in metadata],
    )


def silver(*accounts: object) -> tuple[str, dict[str, object]]:
    return "silver/shop", {"accounts": list(accounts)}


def gold(
    asset: str, rows: int, tombstones: int = 0, already: int = 0, table: str = ""
) -> tuple[str, dict[str, object]]:
    return made_of(asset, size(table or asset, rows, tombstones, already))


def size(name: str, rows: int, tombstones: int = 0, already: int = 0) -> dict[str, object]:
    sizes = {"rows": rows, "tombstones": tombstones, "in_gold_already": already}
    return {"name": name, **sizes, "range_deletes": []}


def made_of(asset: str, *tables: dict[str, object]) -> tuple[str, dict[str, object]]:
    return f"gold/shop/{asset}", {"tables": list(tables)}


def check(
    name: str, *, passed: bool, severity: dg.AssetCheckSeverity, description: str = ""
) -> dg.AssetCheckEvaluation:
    return dg.AssetCheckEvaluation(
        asset_key=dg.AssetKey(["silver", "shop"]),
        check_name=name,
        passed=passed,
        metadata={},
        severity=severity,
        description=description,
    )


def shown(*outcomes: Outcome, width: int = 100) -> str:
    out = io.StringIO()
    summary.show_summary(outcomes, Sheet(out, width))
    return out.getvalue()


def test_commits_and_deletes_that_wait_have_columns_where_there_are_any() -> None:
    plain = outcome(silver(account("customers", 1, 1, 0, 0)), gold("customers", 1))
    assert "control" not in shown(plain)
    committed = outcome(silver(account("customers", 3, 1, 0, 0, 2)), gold("customers", 1))
    (head,) = [line for line in shown(committed).splitlines() if "source events" in line]
    assert "control" in head
    assert "held" not in head


def test_what_no_event_names_is_no_line() -> None:
    made = outcome(silver(account(None, 0, 0, 0, 0), account("customers", 1, 1, 0, 0)))
    assert "(no table)" not in shown(made)
    assert "customers" in shown(made)


def test_a_table_is_one_line_over_all_windows_and_runs() -> None:
    made = outcome(
        silver(account("customers", 5, 4, 1, 0), account("customers", 3, 2, 0, 1)),
        gold("customers", 4, 1),
        silver(account("customers", 2, 2, 0, 0)),
        gold("customers", 1_005, 2),
    )
    assert summary.table_lines(made) == {"customers": summary.TableLine(10, 8, 1, 1, 1_005, 2)}


def test_gold_tables_that_are_named_by_their_schemas_are_on_the_lines_of_their_events() -> None:
    made = outcome(
        silver(account("zoo__pets", 2, 2, 0, 0), account("farm__pets", 3, 3, 0, 0)),
        made_of("pets", size("farm__pets", 1, 1, already=1), size("zoo__pets", 2)),
    )
    assert summary.table_lines(made) == {
        "farm__pets": summary.TableLine(3, 3, 0, 0, 1, 1, in_gold_already=1),
        "zoo__pets": summary.TableLine(2, 2, 0, 0, 2, 0),
    }


def test_the_table_is_aligned_and_says_a_dash_where_there_is_no_number() -> None:
    made = outcome(
        silver(account("customers", 17_000, 17_000, 0, 0), account(None, 1, 0, 0, 1)),
        gold("customers", 6, 1),
    )
    assert [line.rstrip() for line in shown(made).splitlines()] == [
        "",
        "table             source events   changes   duplicates   quarantined   rows   tombstones",
        "─" * 88,
        "shop.(no table)               1         0            0             1      -            -",
        "shop.customers           17,000    17,000            0             0      6            1",
        "",
    ]


def test_what_is_new_in_a_run_of_several_windows_is_told_once() -> None:
    def new(name: str) -> tuple[str, dict[str, object]]:
        block = code_block(f"shop: new column {name} of customers\n  Paste:")
        return "report/shop/shop_report", {NEW_DRIFT: str(block)}

    made = outcome(new("phone"), new("phone"), new("fax"), new("phone"))
    assert shown(made).splitlines() == [
        "shop: new column phone of customers",
        "  Paste:",
        "shop: new column fax of customers",
        "  Paste:",
    ]


def test_checks_are_counted_and_those_that_did_not_pass_are_shown_with_what_to_do() -> None:
    made = outcome()
    made.checks.extend(
        [
            check("accounting_is_exact", passed=True, severity=dg.AssetCheckSeverity.ERROR),
            check("no_event_twice", passed=True, severity=dg.AssetCheckSeverity.WARN),
            check(
                "nothing_quarantined",
                passed=False,
                severity=dg.AssetCheckSeverity.WARN,
                description='4 violations of: Fits [so].\nLook: weir query "SELECT [bold] :smile:".',
            ),
            check(
                "no_null_key",
                passed=False,
                severity=dg.AssetCheckSeverity.ERROR,
                description="1 violation of: Keys.\n- `a: 1 in w`\nCall `weir`.",
            ),
        ]
    )
    assert shown(made, width=40).splitlines() == [
        "checks: 2 passed, 1 warning, 1 failed",
        "  failed: silver.shop: no_null_key",
        "    1 violation of: Keys.",
        "    - a: 1 in w",
        "    Call `weir`.",
        "  warning: silver.shop: nothing_quarantined",
        "    4 violations of: Fits [so].",
        '    Look: weir query "SELECT [bold] :smile:".',
        "error: gold.shop was left as it was, because of the failed check",
    ]
    assert made.failed


def test_a_warning_does_not_fail_a_run_and_an_error_does() -> None:
    made = outcome()
    warned = check("no_event_twice", passed=False, severity=dg.AssetCheckSeverity.WARN)
    made.checks.append(warned)
    assert not made.failed
    made.errors.append("feed shop: cannot read [/nowhere]: there is no such folder.")
    assert made.failed
    assert shown(made).splitlines()[-1] == (
        "error: feed shop: cannot read [/nowhere]: there is no such folder."
    )


def by(executor: str, path: str) -> tuple[str, dict[str, object]]:
    return path, {"executor": executor, "accounts": [], "tables": []}


IN_PROCESS, SPARK = "in-process", "spark"
BRONZE, SILVER, GOLD = "bronze/shop/shop_bronze", "silver/shop/shop_silver", "gold/shop/pets"


@pytest.mark.parametrize(
    ("made", "line"),
    [
        ([by(IN_PROCESS, BRONZE), by(IN_PROCESS, SILVER), by(IN_PROCESS, GOLD)], IN_PROCESS),
        ([by(SPARK, BRONZE), by(SPARK, SILVER), by(SPARK, GOLD)], SPARK),
        ([by(IN_PROCESS, SILVER), by(SPARK, GOLD)], "in-process; spark for gold.shop.pets"),
        ([by("in-process, spark", GOLD)], "in-process; spark for gold.shop.pets"),
        # Another range of windows may have gone another way.
        ([by(SPARK, SILVER), by(IN_PROCESS, SILVER)], "in-process; spark for silver.shop"),
        (
            [by(IN_PROCESS, SILVER), *(by(SPARK, f"gold/shop/t{at}") for at in range(6))],
            "in-process; spark for gold.shop.t0, gold.shop.t1, gold.shop.t2, gold.shop.t3 and 2 more",
        ),
    ],
)
def test_one_line_says_who_did_the_work(
    made: list[tuple[str, dict[str, object]]], line: str
) -> None:
    found = outcome(*made)
    assert [text for text in shown(found).splitlines() if "executor" in text] == [
        f"executor: {line}"
    ]
    assert f"In all, executor: {line}" in [*summary.lines_in_words(found)]
