"""A CSV header that cannot be understood stops the run, and says which names would do."""

from __future__ import annotations

import pytest

from tests.transforms.formats.test_golden import feed
from transforms.errors import UnknownHeader
from transforms.formats import FORMATS

METADATA = "opType,cursor,operationcount"

EXPECTED = (
    "Expected r_comment_NEW, r_comment_OLD, r_comment_EXISTS or NEW_r_comment, OLD_r_comment, "
    "EXISTS_r_comment (and so for r_name, r_regionkey), then opType, cursor, operationCount; "
    "or, for a snapshot, the columns r_regionkey, r_name, r_comment. "
    "Rename the columns, or write the files without a header."
)


@pytest.mark.parametrize(
    "header",
    [
        f"r_regionkey,old,flag,r_name,old,flag,r_comment,old,flag,{METADATA}",
        f"r_regionkey_NEW,r_regionkey_OLD,r_name_NEW,r_name_OLD,{METADATA}",
        f"r_name_NEW,r_name_OLD,r_name_EXISTS,R_NAME_new,r_name_OLD,r_name_EXISTS,{METADATA}",
        "new1,old1,exists1,new2,old2,exists2,new3,old3,exists3,operation,position,counts",
        "r_name,r_comment",
        "r_regionkey,r_name,R_NAME",
        METADATA,
    ],
)
def test_an_unknown_header_names_itself_and_what_is_expected(header: str) -> None:
    name = "2026-11-20/03/region/part_1.csv"
    with pytest.raises(UnknownHeader) as refused:
        list(
            FORMATS["arcion_s3_csv"].split(
                f"{header}\n1,2,3\n".encode(), feed("arcion_s3_csv"), name
            )
        )
    assert str(refused.value) == (
        f"feed golden: {name}, line 1: the header is not understood: {header!r}. {EXPECTED}"
    )
    assert (refused.value.feed, refused.value.object) == ("golden", name)
    assert refused.value.header == header


def test_a_header_of_an_undeclared_table_is_refused_as_well() -> None:
    with pytest.raises(UnknownHeader, match="Expected <column>_NEW, <column>_OLD, <column>_EXISTS"):
        list(
            FORMATS["arcion_s3_csv"].split(
                f"a,b,c,{METADATA}\n".encode(), feed("arcion_s3_csv"), "planet/part_1.csv"
            )
        )
