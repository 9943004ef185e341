"""What a TigerGraph feed notices in messages that it takes all the same.

Put here what each warning means, and what a person does about it. Not here: when a message has one (``decode``).
"""

from __future__ import annotations

from transforms.warning import EventWarning

KEY_NOT_SPLIT = EventWarning(
    "key_not_split",
    "joined_keys_can_be_split",
    "A composite key or discriminator has as many parts as the feed declares.",
    "A value with a comma (in a discriminator a colon) was joined to others: uid and discriminator are whole in gold,"
    " the key's own columns are null in these rows.",
)
DELETE_ALL_OF_OTHERS = EventWarning(
    "delete_all_of_others",
    "delete_all_is_for_plain_edges",
    "A delete-all is for an edge type with one target type, without discriminator and reverse type.",
    "The vendor rules such a message out; all edges of the named type from that vertex were deleted all the same. Look"
    " at the source.",
)
GRAPH_NOT_DECLARED = EventWarning(
    "graph_not_declared",
    "graphs_of_global_types_are_declared",
    "Where tables are named by graph, a GLOBAL type and the edge types that touch it say which graphs have them.",
    "Declare `graph: GLOBAL` at the vertex type, and the graphs at the edge types: until then an edge brings a vertex"
    " of its own graph, and a delete of a GLOBAL vertex takes no edge of another graph along.",
)
REVERSE_NOT_DECLARED = EventWarning(
    "reverse_not_declared",
    "reverse_types_are_declared",
    "An edge type of which a message says that it has a reverse type has one in the feed file.",
    "Declare it under `reverse`: the messages of the other direction are taken for edges of their own until then.",
)
