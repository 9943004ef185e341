"""Dgraph clusters whose stream was partly sent again, cut into files, and landed in several windows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from random import Random
from typing import Any

from tests.laws.events.meanings import HOLD, Drawn, Landed, Meaning, Place, Record, Row
from tests.laws.oracle.event import Image, LogPosition
from tests.laws.rendering.spelling import printed
from tests.support.dgraph_cluster import MANY, Cluster, cluster_feed, pieces, sent, text_of
from transforms.feed.feed import RangeDeletePolicy

WINDOWS, BLOCK = 3, 8
TRIPLES = "triples"


def drawn(numbers: Sequence[int], range_deletes: RangeDeletePolicy) -> Drawn:
    """The clusters with these numbers, and what the lines of their sinks have to become."""
    objects: dict[Place, Landed] = {}
    for number in numbers:
        rng = Random(f"dgraph {number}")
        # Each has its own timestamps, which tell the commits of all of them apart.
        cluster = Cluster(rng, clock=4 + 10_000 * number)
        for _ in range(rng.randint(0, 3)):
            cluster.drop() if rng.random() < 0.15 else cluster.transaction()
        cluster.transaction()
        for name, lines in pieces(list(sent(cluster.commits, rng)), rng).items():
            window = f"b{number // BLOCK} w{rng.randrange(WINDOWS)}"
            landed = objects.setdefault((window, f"{number}/{name}"), Landed())
            for line in lines:
                landed.records.append(_record(cluster, line, rng, holds=range_deletes == "hold"))
                if rng.random() < 0.02:
                    landed.records.append(_quarantined(rng))
    feed = replace(cluster_feed(), name="laws", range_deletes=range_deletes)
    return Drawn(feed, objects)


def compaction_watermark(numbers: Sequence[int]) -> LogPosition:
    """Compacted up to the timestamps of half of the clusters, and a little of the next one."""
    return (0, 1, 4 + 10_000 * numbers[len(numbers) // 2] + 50)


def _record(cluster: Cluster, line: str, rng: Random, *, holds: bool) -> Record:
    namespace, document = cluster.said[line]
    spelled = printed({"key": str(namespace), "value": document}, rng)
    meta: Any = document["meta"]
    row = row_of(str(namespace), document, holds=holds)
    return Record(spelled, (Meaning(TRIPLES, line, (0, 1, meta["commit_ts"]), 3, [row]),))


def row_of(namespace: str, document: Mapping[str, Any], *, holds: bool) -> Row:
    """The row that an event becomes; ``holds``: whether a drop of everything waits for a decision."""
    event = document["event"]
    if document["type"] == "drop":
        return _row_of_drop(namespace, event, holds=holds)
    uid, attr, operation = str(event["uid"]), event["attr"], event["operation"]
    value = text_of(event["value"])
    subject: Image = {"namespace": namespace, "uid": uid, "predicate": attr}
    is_star = event["value_type"] == "default"
    if is_star and attr in MANY:
        return Row(TRIPLES, "del", "remove", scope=subject)
    member = value if attr in MANY and not is_star else ""
    image = {**subject, "_weir_member": member}
    key = (namespace, uid, attr, member)
    typed = {"value": value, "value_type": event["value_type"]}
    if operation == "set":
        return Row(TRIPLES, "set", "replace", key, after={**image, **typed})
    if is_star or attr in MANY:
        return Row(TRIPLES, "del", "remove", key, before=image)
    return Row(TRIPLES, "del", "remove_if", key, before={**image, **typed})


def _row_of_drop(namespace: str, event: Mapping[str, Any], *, holds: bool) -> Row:
    kind = event["operation"]
    if kind == "type":
        return Row(TRIPLES, "drop_type", "note")
    if kind == "all":
        return Row(TRIPLES, "drop_all", HOLD if holds else "remove", scope={})
    scope: Image = {"namespace": namespace}
    if kind == "predicate":
        scope["predicate"] = event["pred"]
    return Row(TRIPLES, f"drop_{kind}", "remove", scope=scope)


def _quarantined(rng: Random) -> Record:
    """A line that cannot be taken."""
    kind = rng.choice(["operation", "uid", "damaged"])
    if kind == "damaged":
        return Record('{ "key": 0, "value": }', (Meaning(TRIPLES, reason="damaged_record"),))
    operation, uid = ("guess", 1) if kind == "operation" else ("set", 2**64)
    event = {"operation": operation, "uid": uid, "attr": "name", "value": "x"}
    document = {
        "meta": {"commit_ts": 3},
        "type": "mutation",
        "event": {**event, "value_type": "string"},
    }
    reason = "unknown_operation" if kind == "operation" else "value_does_not_fit"
    spelled = printed({"key": "0", "value": document}, rng)
    return Record(spelled, (Meaning(TRIPLES, reason=reason),))
