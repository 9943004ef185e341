"""Why a message cannot be taken, and what is said of it nevertheless."""

from __future__ import annotations

import pytest

from tests.transforms.formats.tigergraph.messages import edge, events, overwritten, vertex
from transforms.fault import Fault

KNOWN_MIDS = "known: partition|timestamp|tid|index and partition|timestamp|tid|split_index|index, all numbers"
LOST = "the uid is UNKNOWN: the source has lost its ids (a reset of its storage), and no vertex can be told"
CONTENT = "content is no JSON object of attributes, or two of them have one name in gold"


def without(message: dict[str, object], *names: str) -> dict[str, object]:
    return {name: value for name, value in message.items() if name not in names}


def fault_of(message: object) -> Fault:
    (one,) = events(message)
    assert one.fault is not None
    assert (one.effect, one.before, one.after, one.attribute_ops) == ("note", {}, {}, {})
    return one.fault


@pytest.mark.parametrize(
    ("payload", "reason", "detail"),
    [
        (b'{"mid": "1', "malformed_json", "not JSON"),
        (
            b'{"mid": "1", "mid": "2"}',
            "malformed_json",
            "a name stands twice",
        ),
        (b'{"mid": NaN}', "malformed_json", "NaN is no number"),
        (b'{"uid": "\\ud800"}', "malformed_json", "half of a surrogate pair"),
        *[
            (b"[1]", "malformed_json", "the document is no JSON object"),
            (b"7", "malformed_json", "no JSON object"),
        ],
        (b'{"mid": "\xff"}', "invalid_utf8", "the message is not valid UTF-8"),
        (
            b'{"partition": 1, "offset": 2, "value": null}',
            "empty_message",
            "the Kafka record has no value",
        ),
        (b'{"partition": 1, "offset": 2, "value": "{"}', "malformed_json", "not JSON"),
    ],
)
def test_what_is_no_json_object_is_a_fault(payload: bytes, reason: str, detail: str) -> None:
    fault = fault_of(payload)
    assert fault.reason == reason
    assert detail in fault.detail


def test_a_damaged_record_says_what_can_be_read() -> None:
    (one,) = events(vertex("1"), defect="cut short")
    assert one.fault == ("damaged_record", "cut short")
    assert (one.name, one.log_position, one.stream) == ("vertex_Person", (0, 1, 5, 0, 0), "1")
    (other,) = events(b"{", defect="cut short")
    assert other.fault == ("damaged_record", "cut short")
    assert (other.name, other.log_position, other.dedup_prefix) == (None, None, 0)


@pytest.mark.parametrize(
    ("message", "lacking"),
    [
        ({}, "mid, operator, type"),
        (
            {"operator": None, "type": "edge"},
            "mid, operator, typename, from.type, from.uid, to.type, to.uid",
        ),
        (without(vertex(), "typename", "uid"), "typename, uid"),
        (vertex(type="vertex-type", operator="delete", typename=""), "typename"),
        ({**edge("a", "b"), "from": "a", "to": {"type": "Person"}}, "from.type, from.uid, to.uid"),
        (without(edge("a", "b", operator="delete-all"), "from", "to"), "from.type, from.uid"),
        (edge("a", "b", "Pays", discriminator=""), "discriminator"),
        (edge("a", "b", "Pays", operator="delete"), "discriminator"),
    ],
)
def test_every_field_that_is_missing_is_named(message: dict[str, object], lacking: str) -> None:
    assert fault_of(message) == ("missing_field", f"the message lacks {lacking}")


@pytest.mark.parametrize(
    ("message", "reason", "detail"),
    [
        (vertex(type="graph"), "unknown_type", "type graph; known: vertex, vertex-type, edge"),
        (
            vertex(operator="upsert"),
            "unknown_operation",
            "operator upsert of type vertex is not known",
        ),
        (
            *(edge("a", "b", operator="insert-only"), "unknown_operation"),
            "operator insert-only of type edge is not known",
        ),
        *[
            (vertex(mid=mid), "unknown_mid", f"mid is {mid}; {KNOWN_MIDS}")
            for mid in ("1|2|3", "1|2|x|0", "1|2|-3|0", "1|2|3|4|5|6", "٣|1|1|1", "")
        ],
        (vertex(mid=f"1|1|{10**18}|0"), "unknown_mid", f"mid is 1|1|{10**18}|0; {KNOWN_MIDS}"),
        *[
            (message, "unknown_uid", LOST)
            for message in (vertex("UNKNOWN"), edge("UNKNOWN", "b"), edge("a", "UNKNOWN"))
        ],
        (
            *(edge("Company/a", "b"), "undeclared_end"),
            "the edge goes from Company to Person, which the feed does not declare",
        ),
        (
            *(edge("a", "b", "Employs", operator="delete"), "undeclared_end"),
            "the edge goes from Person to Person, which the feed does not declare",
        ),
        (
            *(edge("Company/a", "b", "Knows"), "undeclared_end"),
            "the edge goes from Company to Person, which the feed does not declare",
        ),
        (
            *(edge("a", "b", operator="delete-all"), "narrowed_delete_all"),
            "delete-all is for all edges of a vertex, and this one names a target",
        ),
        (
            *(
                edge("a", "b", operator="delete-all", discriminator="x", to={"uid": "b"}),
                "narrowed_delete_all",
            ),
            "delete-all is for all edges of a vertex, and this one names a target and a discriminator",
        ),
    ],
)
def test_what_the_format_does_not_know_is_a_fault_that_names_it(
    message: dict[str, object], reason: str, detail: str
) -> None:
    assert fault_of(message) == (reason, detail)


@pytest.mark.parametrize(
    ("content", "reason", "detail"),
    [
        *[
            (content, "malformed_content", CONTENT)
            for content in ("n", 7, ["n"], overwritten(uid=1, content_uid=2))
        ],
        ({"n": "bare"}, "missing_field", "attribute n lacks its op or its value"),
        ({"n": {"op": "Add"}}, "missing_field", "attribute n lacks its op or its value"),
        (
            {"To_uid": {"op": None, "value": 1}},
            "missing_field",
            "attribute content_To_uid lacks its op or its value",
        ),
        (
            {"n": {"op": "Increase", "value": 1}},
            "unknown_operation",
            "op Increase of attribute n is not known",
        ),
        ({"n": {"op": 5, "value": 1}}, "unknown_operation", "op 5 of attribute n is not known"),
        # The first fault is that of the message's form.
        (
            {"m": {"op": "x", "value": 1}, "n": 1},
            "missing_field",
            "attribute n lacks its op or its value",
        ),
    ],
)
def test_attributes_without_operation_or_value_are_a_fault(
    content: object, reason: str, detail: str
) -> None:
    assert fault_of(vertex(content=content)) == (reason, detail)
    assert fault_of(edge("a", "b", content=content)) == (reason, detail)


def test_the_content_of_a_delete_does_not_matter() -> None:
    for content in ("n", {"n": 1}, None):
        assert events(vertex(operator="delete", content=content))[0].fault is None
    assert events(vertex(content=None))[0].fault is None


@pytest.mark.parametrize("value", [18446744073709551616, -1, "-1", 1e30])
def test_an_unsigned_number_has_64_bits(value: object) -> None:
    fault = fault_of(vertex(typename="Thing", content=overwritten(size=value)))
    assert fault.reason == "value_does_not_fit"
    assert fault.detail.startswith("size is ")
    assert fault.detail.endswith(", which no unsigned number of 64 bits is")


@pytest.mark.parametrize("value", [18446744073709551615, 0, "x", 0.5, None, True])
def test_other_values_of_unsigned_numbers_are_judged_by_their_type(value: object) -> None:
    (one,) = events(vertex(typename="Thing", content=overwritten(size=value)))
    assert one.fault is None


def test_long_texts_are_cut_in_the_sentence() -> None:
    fault = fault_of(vertex(operator="x" * 1000))
    assert fault.detail == f"operator {'x' * 300} ... (1000 characters) of type vertex is not known"
