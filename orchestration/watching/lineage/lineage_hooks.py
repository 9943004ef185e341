"""Hooks of a feed's job that tell of each step: off, unless OPENLINEAGE_URL or OPENLINEAGE_CONFIG is set.

Put here when a step is told of. Not here: what is told (``lineage_events``, ``datasets``).
"""

from __future__ import annotations

import os
from collections.abc import Mapping

import dagster as dg

from transforms.addresses import without_credentials
from transforms.feed.feed import Feed

SETTINGS = ("OPENLINEAGE_URL", "OPENLINEAGE_CONFIG")


def is_on(environment: Mapping[str, str]) -> bool:
    """Whether somebody wants to be told, and has not said otherwise."""
    is_disabled = environment.get("OPENLINEAGE_DISABLED", "").strip().lower() == "true"
    return not is_disabled and any(environment.get(name, "").strip() for name in SETTINGS)


def lineage_hooks(feed: Feed) -> set[dg.HookDefinition]:
    """The hooks; none where lineage is off."""
    if not is_on(os.environ):
        return set()

    @dg.success_hook(name=f"lineage_of_done_{feed.name}", required_resource_keys={"lake"})
    def lineage_of_done(context: dg.HookContext) -> None:
        _tell(context, feed)

    @dg.failure_hook(name=f"lineage_of_failed_{feed.name}", required_resource_keys={"lake"})
    def lineage_of_failed(context: dg.HookContext) -> None:
        _tell(context, feed)

    return {lineage_of_done, lineage_of_failed}


def _tell(context: dg.HookContext, feed: Feed) -> None:
    # Imported late: the library takes a third of a second, and seldom is anybody told.
    from orchestration.watching.lineage import emitter, lineage_events

    try:
        sender = emitter.emitter()
        sender.emit(*lineage_events.events_of(context, feed))
        fault = sender.fault_to_tell()
    except Exception as unknown:  # a run does not fail because nobody can be told of it
        fault = without_credentials(f"{type(unknown).__name__}: {unknown}")
    if fault:
        context.log.warning(
            f"{feed.name}: OpenLineage's receiver takes no events ({fault}); this process sends it no more"
        )
