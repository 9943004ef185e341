"""What must be true of a graph's tables together, once all of them are applied."""

from __future__ import annotations

from expectations.rule import Rule

TIDS_RISE_WITH_SOURCE_TIME = Rule(
    "tids_rise_with_source_time",
    "blocking",
    "No partition's tids start again from low numbers while its time goes on.",
    "The source was restored, expanded or cleared, so that the order is unknown and part of the history may be missing:"
    " say where the new history begins with `weir epoch open <feed> --window WINDOW --time TIME` (the first window, and"
    " first time, of the tids that began again), and run again.",
)
NO_DANGLING_EDGE = Rule(
    "no_dangling_edge",
    "blocking",
    "No edge is older than the delete of a vertex at which it begins or ends.",
    "Report it: the delete should have taken the edge along.",
    is_fixed=True,
)
NO_EDGE_AWAITS_ITS_VERTEX = Rule(
    "no_edge_awaits_its_vertex",
    "warning",
    "No edge refers to a vertex that was deleted before it and has not come back.",
    "The message that brings the vertex back has not landed yet, or is in quarantine; or the delete waits for a person,"
    " because the edge is of another partition and about as old (`no_loss_is_held`).",
)
MIRRORED_EDGES_AGREE = Rule(
    "mirrored_edges_agree",
    "warning",
    "An edge that the source stores in both directions is the same in both.",
    "Messages of one direction have not landed yet, or are lost or in quarantine. edge_<Type> shows one of the two;"
    " edge_<Type>__mirror is the other.",
)

RULES = (
    TIDS_RISE_WITH_SOURCE_TIME,
    NO_DANGLING_EDGE,
    NO_EDGE_AWAITS_ITS_VERTEX,
    MIRRORED_EDGES_AGREE,
)
