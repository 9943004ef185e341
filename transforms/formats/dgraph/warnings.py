"""What a Dgraph feed notices in events that it takes all the same.

Put here what each warning means, and what a person does about it. Not here: when an event has one (``triples``).
"""

from __future__ import annotations

from transforms.formats.dgraph.statement import DROP, OPERATIONS
from transforms.warning import EventWarning, Undeclared

WARNINGS = (
    EventWarning(
        "no_namespace",
        "events_tell_their_namespace",
        "Every event has its namespace.",
        "A Kafka record has the namespace as its key, a line of the file sink under key. Events without one were taken"
        " for namespace 0; where there are others, keep the keys of the records.",
    ),
    EventWarning(
        "undeclared_predicate",
        "predicates_are_declared",
        "Every predicate that events mention is declared.",
        "Only the declaration says whether a predicate is a list, to which a set adds, or a single value, which a set"
        " replaces. Edges were taken for a list and other values for single ones; declare the predicate in the feed"
        " file.",
        Undeclared(
            "predicate",
            "predicates",
            # A drop is the same for lists and single values.
            tuple(sorted({name for (kind, _), name in OPERATIONS.items() if kind != DROP})),
        ),
    ),
    EventWarning(
        "ambiguous_language",
        "a_commit_sets_a_single_value_once",
        "No commit sets a single value twice.",
        "Values in several languages are sets of one predicate in one commit, and nothing tells them apart. The last of"
        " them counts; if the predicate has languages, its value in gold may be that of any of them.",
    ),
    EventWarning(
        "drop_behind",
        "drops_stand_before_what_is_newer",
        "No drop arrived after events that are newer than it.",
        "A drop has the timestamp at which it began, and counts by it: what has a higher one stays. After a restart"
        " Dgraph sends old drops again, and all is well; else commits ended while the drop ran, and only an export"
        " tells which of their values it removed.",
    ),
    EventWarning(
        "value_lost",
        "values_are_in_the_stream",
        "Every value is in the stream.",
        "Dgraph writes geo and bigfloat values as {}: the triple is in gold, its value is null; an export of Dgraph has"
        " the value.",
    ),
    EventWarning(
        "password_masked",
        "passwords_are_not_kept",
        "No event is about a password.",
        "Dgraph writes a password as ****. Nothing was stored: that the password was set is all that the event tells.",
    ),
    EventWarning(
        "facets_left_out",
        "exported_values_have_no_facets",
        "No exported value has facets.",
        "Facets are in exports and never in the stream: the triple is in gold without them.",
    ),
)
"""Each is a warning check."""
