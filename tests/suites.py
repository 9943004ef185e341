"""The two suites: what ``make test`` leaves to ``make test-long``, how long that takes, and which shard has what of it.

A part of the long suite is a folder, a file, a test by its name, or a case of all tests of a file. Shards are made of
whole parts, by the seconds that each has taken, so that all take about the same time; a test is in the part that names
it most closely.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

LONG: Final[Mapping[str, int]] = {
    # Other programs beside Weir: clusters, databases, schedulers, readers.
    "tests/cluster/test_cluster.py": 200,
    "tests/cluster/test_orchestrated.py": 240,
    "tests/cdc": 220,
    "tests/cdc/test_mariadb_to_gold.py": 240,
    "tests/assets/source/test_health_of_mariadb.py": 40,
    "tests/recordings": 90,
    "tests/journeys/test_airflow.py": 200,
    "tests/journeys/test_dbt.py": 100,
    "tests/journeys/test_drop_of_each_kind.py": 200,
    "tests/journeys/test_soft_deletes.py[spark]": 150,
    "tests/orchestration/cli/sql/test_same_answers.py"
    "::test_drawn_questions_have_the_answers_that_spark_gives": 200,
    # Each starts a Dagster of its own; of the ways to end one, make test has the signal.
    "tests/journeys/test_deploy.py::test_a_window_goes_from_a_bucket_to_a_bucket_and_its_run_is_in_postgres": 104,
    "tests/journeys/test_own_folder.py::test_where_its_process_is_killed_nothing_is_left": 62,
    # That Dagster's own server lets a foreign page start runs, which shows that the test of the guard would see it.
    "tests/journeys/test_guarded_pages.py::test_a_foreign_page_starts_nothing[dagster_webserver-started0]": 32,
    # The daemon and each message.
    "tests/journeys/test_alerts.py::test_one_message_tells_of_a_run_that_the_daemon_has_run": 95,
    "tests/assets/readers": 290,
    "tests/assets/reconcile": 420,
    "tests/assets/catalogues": 120,
    # Runs that are killed, stopped or starved, and writers that meet.
    "tests/faults/test_two_machines.py": 120,
    "tests/faults/test_two_machines_with_spark.py": 200,
    "tests/faults/test_full_disk.py": 20,
    "tests/faults/test_two_runs.py": 149,
    "tests/orchestration/spark/test_conditional_commits.py": 167,
    "tests/assets/silver/test_bad_input.py::test_records_that_spark_has_no_memory_for_end_the_run_with_what_to_set": 53,
    "tests/faults/test_kills.py": 169,
    "tests/faults/test_store_errors.py::test_errors_now_and_then_are_tried_again_without_a_word": 22,
    # Processes with a Java of their own, which are given up after a time.
    "tests/orchestration/spark/test_clusters.py": 102,
    "tests/orchestration/spark/test_standing_workers.py": 71,
    "tests/orchestration/spark/test_listening.py::test_every_port_of_a_local_spark_is_loopbacks": 46,
    # What make test tries in this process, once more in Spark's tasks. Every golden case goes through these there, too.
    "tests/assets/bronze/test_from_topics.py[spark]": 74,
    "tests/assets/test_golden_landings.py"
    "::test_a_folder_through_sparks_tasks_is_what_the_functions_make_of_it[arcion_kafka]": 14,
    "tests/assets/test_golden_landings.py"
    "::test_a_folder_through_sparks_tasks_is_what_the_functions_make_of_it[arcion_s3_csv]": 16,
    "tests/assets/test_golden_landings.py"
    "::test_a_folder_through_sparks_tasks_is_what_the_functions_make_of_it[dgraph]": 10,
    "tests/assets/test_golden_landings.py"
    "::test_a_folder_through_sparks_tasks_is_what_the_functions_make_of_it[tigergraph]": 12,
    "tests/assets/test_golden_landings.py"
    "::test_a_folder_through_sparks_tasks_is_what_the_functions_make_of_it[yugabyte]": 16,
    "tests/assets/test_golden_landings.py"
    "::test_a_folder_through_sparks_tasks_is_what_the_functions_make_of_it[yugabyte_xcluster]": 12,
    "tests/assets/gold/test_apply_table.py[spark]": 60,
    "tests/assets/gold/test_history.py[by Spark]": 75,
    "tests/assets/gold/test_kept_deletes.py[spark-merged]": 60,
    "tests/assets/gold/test_kept_deletes.py[spark]": 150,
    "tests/assets/gold/test_kept_deletes.py[spark-to remove]": 60,
    "tests/assets/gold/test_kept_deletes.py[spark-to mark]": 60,
    "tests/assets/gold/test_never_inserted.py::test_a_row_under_a_new_key_is_no_new_row[spark]": 10,
    "tests/assets/gold/test_held_losses.py"
    "::test_spark_tells_what_an_incremental_snapshot_does_not_name": 21,
    "tests/assets/gold/test_schema_changes.py"
    "::test_a_table_is_made_again_under_another_key_where_a_person_asks_for_it[versions-spark]": 18,
    "tests/assets/gold/test_schema_changes.py"
    "::test_a_table_without_rows_takes_another_key_type_and_name_at_once[spark]": 9,
    "tests/assets/gold/test_schema_changes.py[key-spark]": 15,
    "tests/assets/gold/test_schema_changes.py[name-spark]": 15,
    "tests/assets/gold/test_schema_changes.py[evolves-spark]": 15,
    "tests/assets/audit/test_explain.py"
    "::test_a_late_event_a_repeated_sum_and_a_scope_read_as_one_story[spark]": 24,
    "tests/assets/audit/test_explain.py::test_spark_tells_of_every_key_what_this_process_tells": 60,
    "tests/assets/storage/test_spark_table.py": 65,
    "tests/assets/erasure/test_erasing_by_spark.py": 90,
    "tests/laws/events/test_frames.py": 63,
    "tests/laws/test_model_laws.py[item-by Spark]": 234,
    "tests/laws/test_model_laws.py[graph-by Spark]": 172,
    "tests/laws/test_model_laws.py[triple-by Spark]": 145,
    "tests/laws/test_model_laws.py[log-by Spark]": 100,
    "tests/laws/test_model_laws.py[account-by Spark]": 151,
    "tests/laws/test_model_laws.py[stock-by Spark]": 236,
    "tests/laws/test_model_laws.py[replica-by Spark]": 150,
    # Golden cases from a broker: make test has Debezium's, and those of all formats as dumps of topics.
    "tests/assets/test_golden_landings.py"
    "::test_topics_in_one_process_are_what_the_functions_make_of_their_records[arcion_kafka]": 13,
    "tests/assets/test_golden_landings.py"
    "::test_topics_in_one_process_are_what_the_functions_make_of_their_records[dgraph]": 7,
    "tests/assets/test_golden_landings.py"
    "::test_topics_in_one_process_are_what_the_functions_make_of_their_records[tigergraph]": 7,
    # The contract of both executors for tables that are like another one of make test's: a source's kind, or a shape.
    "tests/executors/test_folding.py[marked.item]": 42,
    "tests/executors/test_folding.py[kinds.typed]": 24,
    "tests/executors/test_folding.py[described.pets]": 18,
    "tests/executors/test_folding.py[kinds.edge]": 12,
    "tests/executors/test_folding.py[kinds.triple]": 12,
    "tests/executors/test_folding.py[marked.stock]": 12,
    "tests/executors/test_folding.py[kinds.stock]": 12,
    "tests/executors/test_folding.py[kinds.replica]": 14,
    "tests/executors/test_folding.py[kinds.keyed]": 14,
    "tests/executors/test_folding.py[kinds.copied]": 16,
    "tests/executors/test_folding.py[graphs.vertex_Person]": 12,
    # Compaction, by Spark: much work for few rows.
    "tests/assets/maintenance/test_compaction.py": 320,
    "tests/assets/maintenance/test_plan.py"
    "::test_a_table_that_most_events_come_too_late_for_ends_the_run_and_is_named": 93,
    "tests/assets/maintenance/test_plan.py::test_a_wild_position_does_not_carry_the_watermark_away": 85,
    "tests/assets/maintenance/test_plan.py::test_a_table_that_cannot_be_compacted_leaves_the_others_done": 71,
    "tests/assets/quarantine/test_repair.py::test_events_that_may_be_compacted_are_not_repaired": 31,
    "tests/assets/control/test_decisions.py::test_dismissed_records_of_the_quarantine_hold_nothing_up": 83,
    "tests/assets/gold/test_apply_table.py"
    "::test_of_several_tombstones_the_newest_counts_and_compaction_keeps_only_that": 60,
    "tests/orchestration/cli/test_failing_tables.py"
    "::test_compaction_goes_on_behind_a_table_and_a_feed_that_fail": 117,
    # Every file and page of a warehouse is searched for what no one may read, after runs of all kinds.
    "tests/journeys/test_secrets.py::test_no_secret_is_printed_or_kept": 180,
    # Much of Spark's work for one fact.
    "tests/assets/storage/test_hostile_tables.py::test_every_statement_is_about_its_own_table": 16,
    "tests/assets/silver/test_frames.py::test_many_windows_at_once_are_few_files": 16,
    "tests/assets/silver/test_frames.py"
    "::test_what_records_take_is_known_from_files_that_are_much_smaller": 50,
    "tests/assets/gold/test_change_feed.py::test_a_feed_that_is_asked_for_comes_and_stays": 33,
    "tests/assets/gold/test_change_feed.py::test_a_row_that_is_marked_is_an_update_in_the_feed": 40,
    "tests/assets/gold/test_masks.py::test_gold_and_history_are_made_again_under_masks_and_under_another_key": 46,
    # The bench, which is no part of the product.
    "tests/bench/test_answers.py::test_the_textbook_brings_deleted_rows_back_and_takes_updates_for_whole_rows": 90,
    "tests/bench/test_bench.py": 203,
    "tests/bench/test_growth.py": 50,
    "tests/bench/test_others.py::test_the_tools_make_the_tables_that_they_should": 126,
}
"""Parts that only the long suite has, with their seconds on two cores that did other work as well.

Guessed, as no undisturbed run of them was measured: those of ``tests/cluster``, Airflow and dbt, and of marked rows
by Spark."""

NUMBERED: Final[Mapping[str, int]] = {
    "tests/laws/events/test_laws_of_events.py": 67,
    "tests/laws/cuts": 150,
    "tests/laws/gold": 450,
    "tests/laws/snapshots": 240,
    "tests/laws/test_tigergraph.py": 330,
    # The cases of its test in this process.
    "tests/laws/test_model_laws.py": 335,
    # Each command in a Python of its own, where make test forks them from one that has imported Weir.
    "tests/journeys/test_newcomer.py": 76,
    "tests/journeys/test_pages.py::test_the_commands_of_the_pages_do_and_print_what_they_say": 125,
    "tests/journeys/test_pages.py::test_the_commands_of_onboarding_do_and_print_what_the_page_says": 30,
    "tests/journeys/test_quarantine.py": 250,
    "tests/journeys/test_soft_deletes.py": 64,
    "tests/journeys/test_tutorials.py": 210,
}
"""Parts that both suites have: in the long one with larger numbers or more processes, which take these seconds."""

SLOW: Final = frozenset(
    {
        # Runs of Dagster over several windows or tables.
        "tests/orchestration/runs",
        "tests/orchestration/automation",
        "tests/orchestration/observability",
        "tests/assets/quality/test_quality_of_runs.py",
        "tests/assets/audit/test_stored_tables.py",
        "tests/assets/gold/test_held_losses.py",
        "tests/assets/gold/test_late_events.py",
        "tests/assets/test_checks.py"
        "::test_a_stopped_table_fails_its_check_by_name_and_holds_nothing_up_that_is_downstream",
        "tests/orchestration/cli/test_cut_after_rewriting.py",
        "tests/orchestration/cli/test_debezium_without_schemas.py",
        "tests/orchestration/cli/test_decisions.py",
        "tests/orchestration/cli/test_hostile_drops.py",
        # Histories that are drawn in numbers of their own, or run whole windows.
        "tests/laws/cuts",
        "tests/transforms/formats/test_golden.py::test_the_changes_of_a_drop_fold_to_the_state_that_is_expected",
        "tests/assets/silver/test_resets.py::test_each_format_tells_a_reset_and_nothing_else",
        "tests/assets/silver/test_resets.py::test_offsets_that_begin_again_are_told",
        "tests/assets/gold/test_full_dumps.py",
        "tests/assets/gold/test_never_inserted.py",
        "tests/assets/gold/test_epoch_effects.py",
        "tests/assets/bronze/test_operation_gaps.py",
        "tests/assets/test_dgraph_samples.py",
        "tests/assets/onboarding/test_samples_are_recognised.py",
        "tests/transforms/formats/test_yugabyte_xcluster.py::test_any_part_of_one_time_that_comes_again_changes_nothing",
        "tests/laws/gold/test_newest_laws.py",
        "tests/laws/test_tigergraph.py",
        "tests/laws/snapshots",
        "tests/laws/test_repairing_laws.py",
        "tests/laws/test_dgraph_laws.py",
        "tests/laws/drawn/test_drawn.py",
        "tests/laws/mutations/test_mutations.py::test_a_law_holds_in_the_copy_and_fails_where_its_line_is_broken",
        "tests/assets/control/test_bronze_ledger.py",
        "tests/transforms/formats/test_hostile_records.py::test_damaged_records_are_changes_or_in_quarantine",
        "tests/transforms/onboarding/test_hostile_samples.py",
        "tests/transforms/feed/test_windows.py::test_no_name_below_a_folder_of_a_day_is_of_another",
        # Memory and time that must not grow: large inputs, most of them in processes of their own.
        "tests/transforms/records/test_memory.py",
        "tests/transforms/families/test_avro.py::test_hostile_bytes_are_a_fault_and_never_raise",
        "tests/transforms/silver/test_trails.py::test_of_more_parts_than_are_kept_the_same_ones_are",
        "tests/transforms/records/test_csv_records.py::test_large_texts_take_time_in_proportion",
        "tests/transforms/records/test_csv_records.py::test_malformed_lines_take_time_in_proportion",
        "tests/transforms/records/test_json_documents.py::test_large_texts_take_time_in_proportion",
        "tests/transforms/records/test_json_documents.py::test_malformed_lines_take_time_in_proportion",
        "tests/transforms/records/test_json_documents.py::test_they_cut_alike_whatever_the_limits",
        "tests/transforms/records/test_json_documents.py::test_the_quick_way_and_the_careful_one_cut_alike",
        "tests/transforms/records/test_compression.py::test_a_flipped_byte_marks_every_record",
        "tests/transforms/records/test_compression.py::test_no_more_is_inflated_than_is_wanted",
        "tests/transforms/formats/test_dgraph.py"
        "::test_a_hundred_thousand_events_of_one_value_in_one_commit_take_their_positions",
        "tests/transforms/silver/test_discovered_tables.py::test_thousands_of_tables_that_stop_are_one_line",
        "tests/assets/gold/test_hot_keys.py::test_no_more_changes_of_a_hot_key_are_held_than_a_batch_has",
        # Processes that import Dagster or Great Expectations anew, make an environment, or start Java.
        "tests/test_project.py::test_without_java_make_says_so_before_anything_else",
        "tests/test_pins.py::test_nothing_else_is_fetched",
        "tests/assets/test_retries.py::test_what_passes_is_tried_again_and_what_does_not_is_not",
        "tests/orchestration/test_console.py::test_silence_is_broken_with_what_is_being_waited_for",
        "tests/expectations/test_suites.py",
        "tests/expectations/test_gallery.py",
        "tests/test_reference.py",
        "tests/orchestration/test_definitions.py::test_it_loads_with_no_environment_and_from_any_folder",
        "tests/orchestration/test_installation.py",
        "tests/orchestration/feeds/test_refused.py",
        "tests/orchestration/web",
        "tests/orchestration/spark",
        "tests/orchestration/cli/test_main.py::test_a_reader_who_has_seen_enough_gets_no_stack",
        "tests/orchestration/cli/test_quick_commands.py",
        "tests/orchestration/cli/sql/test_same_answers.py",
        "tests/bench/test_others.py",
        "tests/test_suites.py::test_each_part_of_the_long_suite_has_tests_and_each_long_test_is_in_one_shard",
        "tests/test_site.py",
        "tests/test_troubleshooting.py",
    }
)
"""Parts without Spark whose tests take a second of a processor or more: ``make check`` leaves them out."""

SHARDS: Final = 23
"""How many shards .ci/run counts on: each has to be over in ten minutes."""


def part_of(nodeid: str) -> str | None:
    """The part of the long suite that has this test; None of a test that only ``make test`` has."""
    return next((name for name in _names(nodeid) if name in LONG or name in NUMBERED), None)


def is_slow(nodeid: str) -> bool:
    """Whether ``make check`` leaves a test out for the time that it takes."""
    return any(name in SLOW for name in _names(nodeid))


def _names(nodeid: str) -> Iterator[str]:
    """All that a part with this test may be called, the narrowest first: its case, itself, its file, the folders."""
    test, bracket, case = nodeid.partition("[")
    path = test.partition("::")[0]
    yield from (nodeid, test, f"{path}{bracket}{case}")
    while path:
        yield path
        path = path.rpartition("/")[0]


@dataclass(frozen=True, slots=True)
class Shard:
    """The ``number``-th of so many shards, counted from 1."""

    number: int
    of: int

    @classmethod
    def read(cls, text: str) -> Shard:
        """The shard that a person names: ``3/12``."""
        found = re.fullmatch(r"([0-9]+)/([0-9]+)", text)
        if found is None or not 1 <= int(found[1]) <= int(found[2]):
            raise argparse.ArgumentTypeError(
                f"{text!r} is no shard of the long suite: write 3/12 for the third of twelve"
            )
        return cls(int(found[1]), int(found[2]))

    @property
    def parts(self) -> frozenset[str]:
        """The parts that it has: the longest first, each goes to the shard that has the fewest seconds so far."""
        seconds = {**LONG, **NUMBERED}
        filled = [0] * self.of
        mine: set[str] = set()
        for part in sorted(seconds, key=lambda part: (-seconds[part], part)):
            shard = filled.index(min(filled))
            filled[shard] += seconds[part]
            if shard == self.number - 1:
                mine.add(part)
        return frozenset(mine)

    def has(self, nodeid: str) -> bool:
        """True where the test is in one of its parts."""
        return part_of(nodeid) in self.parts
