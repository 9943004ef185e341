"""OpenLineage: the hooks that tell of each step, and the emitter that sends its events beside the run."""

from __future__ import annotations

import atexit
import os
import queue
import threading
from collections.abc import Mapping
from functools import cache
from typing import Any

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
    from orchestration.observability import lineage_events

    try:
        sender = emitter()
        sender.emit(*lineage_events.events_of(context, feed))
        fault = sender.fault_to_tell()
    except Exception as unknown:  # a run does not fail because nobody can be told of it
        fault = without_credentials(f"{type(unknown).__name__}: {unknown}")
    if fault:
        context.log.warning(
            f"{feed.name}: OpenLineage's receiver takes no events ({fault}); this process sends it no more"
        )


# Events on their way to the receiver: sent beside the run, which waits for none of them.
# A receiver that does not take an event gets no more from this process, and the run says so once.


PATIENCE = 2.0
"""At the end of the process, events that are on their way have so many seconds."""


class Emitter:
    """A thread that sends what it is given, in order, until the receiver fails."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self._events: queue.Queue[Any] = queue.Queue()
        self._fault: str | None = None
        self._is_down = False
        threading.Thread(target=self._send_all, daemon=True, name="openlineage").start()

    def emit(self, *events: Any) -> None:
        """Send these, some time."""
        if not self._is_down:
            for event in events:
                self._events.put(event)

    def fault_to_tell(self) -> str | None:
        """Why the receiver failed, the first time that somebody asks after it did."""
        fault, self._fault = self._fault, None
        return fault

    def flush(self, seconds: float = PATIENCE) -> bool:
        """Wait until all is sent, at most so long; whether it was."""
        done = threading.Event()
        self._events.put(done)
        return done.wait(0 if self._is_down else seconds)

    def _send_all(self) -> None:
        while True:
            event = self._events.get()
            if isinstance(event, threading.Event):
                event.set()
            elif not self._is_down:
                try:
                    self._client.emit(event)
                except Exception as fault:  # whatever it is, the run has nothing to do with it
                    self._is_down = True
                    self._fault = f"{type(fault).__name__}"


@cache
def emitter() -> Emitter:
    """The emitter of this process, to the receiver that the environment names."""
    from openlineage.client import OpenLineageClient

    made = Emitter(OpenLineageClient())
    atexit.register(made.flush)
    return made
