"""What a Dgraph feed notices in events that it takes all the same.

Put here what each warning means, and what a person does about it. Not here: when an event has one (``triples``).
"""

from __future__ import annotations

from transforms.warning import EventWarning

WARNINGS = (
    EventWarning(
        "no_namespace",
        "events_tell_their_namespace",
        "A Kafka record has the namespace as its key, a line of the file sink under key.",
        "The events were taken for namespace 0; where there are others, keep the keys of the records.",
    ),
    EventWarning(
        "undeclared_predicate",
        "predicates_are_declared",
        "Only the declaration tells a list, to which a set adds, from a single value, which it replaces.",
        "Edges were taken for a list and other values for single ones; declare the predicate in the feed file.",
    ),
    EventWarning(
        "ambiguous_language",
        "a_commit_sets_a_single_value_once",
        "Values in several languages are sets of one predicate in one commit, and nothing tells them apart.",
        "The last of them counts; if the predicate has languages, its value in gold may be that of any of them.",
    ),
    EventWarning(
        "drop_behind",
        "drops_stand_before_what_is_newer",
        "A drop has the timestamp at which it began, and counts by it: what has a higher one stays.",
        "After a restart Dgraph sends old drops again, and all is well; else commits ended while the drop ran,"
        " and only an export tells which of their values it removed.",
    ),
    EventWarning(
        "value_lost",
        "values_are_in_the_stream",
        "Dgraph writes geo and bigfloat values as {}: they are lost.",
        "The triple is in gold, its value is null; an export of Dgraph has the value.",
    ),
    EventWarning(
        "password_masked",
        "passwords_are_not_kept",
        "Dgraph writes a password as ****.",
        "Nothing was stored: that the password was set is all that the event tells.",
    ),
    EventWarning(
        "facets_left_out",
        "exported_values_have_no_facets",
        "Facets are in exports and never in the stream.",
        "The triple is in gold without its facets.",
    ),
)
"""Each is a warning check."""
