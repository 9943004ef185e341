"""Whatever a secret in an address is made of, it is not shown; and what is no secret is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from transforms.addresses import has_credentials, neither, without_credentials
from transforms.errors import (
    FeedMisdeclared,
    SettingMisdeclared,
    UnreadableLanding,
    UnreadableWarehouse,
    WarehouseFailed,
)

MARK = "hush"
SIGNS = st.text(
    st.characters(min_codepoint=33, max_codepoint=0x2FFF, exclude_categories=["Z", "C"]),
    max_size=12,
)
SCHEMES = (
    "s3",
    "s3a",
    "https",
    "http",
    "kafka",
    "postgresql",
    "jdbc:postgresql",
    "k8s://https",
    "smtp",
    "spark",
)


@given(st.sampled_from(SCHEMES), SIGNS, SIGNS, st.sampled_from(["a", "bucket/prefix/x", "a,b/t"]))
def test_no_part_of_a_password_is_shown(scheme: str, before: str, after: str, host: str) -> None:
    address = f"{scheme}://user:{before}{MARK}{after}@{host}"
    assert has_credentials(address)
    shown = without_credentials(f"it says {address} and 'more'")
    assert shown.startswith(f"it says {scheme}://") and shown.endswith("and 'more'")
    assert MARK not in shown and host in shown
    # What is shown has nothing left that would be left out.
    assert without_credentials(shown) == shown


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("https://token@host/x", "https://host/x"),
        ("s3:/key:secret@bucket/x", "s3:/bucket/x"),
        # Neither a bucket's name nor a user has a port.
        ("s3://key:sec/ret/bucket", "s3://…"),
        ("https://host/x?a=1&X-Amz-Signature=hush&b=2", "https://host/x?a=1&X-Amz-Signature=…&b=2"),
        ("postgresql://host/db?password=hush;sslkey=hush", "postgresql://host/db?password=…"),
        ("https://host/x?AWSAccessKeyId=hush&sig=hush", "https://host/x?AWSAccessKeyId=…&sig=…"),
    ],
)
def test_credentials_are_left_out(address: str, shown: str) -> None:
    assert has_credentials(address)
    assert without_credentials(address) == shown


@pytest.mark.parametrize(
    "address",
    [
        *("s3://bucket/a@b/c:d?e=1", "kafka://a:9092,b:9092/t,u", "spark://[::1]:7077"),
        *("/a:b@c", "yarn"),
        *("k8s://https://host:6443", "https://host/a@b?page=2", "http://host:80/a"),
        *("file:///a:b/c@d", "12:30 a@b", "local[2,4]", "s3://lake: no such bucket"),
    ],
)
def test_what_is_no_secret_is_shown(address: str) -> None:
    assert not has_credentials(address)
    assert without_credentials(address) == address


@pytest.mark.parametrize(
    "error",
    [
        FeedMisdeclared("a.yaml", "landing", "found 's3://key:hush@bucket/'"),
        SettingMisdeclared("WEIR_X", "https://me:hush@host", "no"),
        UnreadableLanding("zoo", "s3://key:hush@bucket/", "no", "See https://me:hush@host."),
        UnreadableWarehouse("s3a://key:hush@bucket/lake", "no", "Repair it."),
        WarehouseFailed("silver.zoo", "s3a://key:hush@bucket/lake", "no"),
    ],
)
def test_no_error_of_weirs_shows_credentials(error: Exception) -> None:
    assert "hush" not in str(error)


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("S3://bucket/a", "s3://bucket/a"),
        ("s3n://bucket/a", "s3://bucket/a"),
        ("s4://bucket", "s3://bucket"),
        ("s3:/bucket/a", "s3://bucket/a"),
        ("kafkas://broker:9092/t", "kafka://broker:9092/t"),
        ("file:///srv/drops", "/srv/drops"),
    ],
)
def test_an_address_that_is_nearly_one_says_what_was_meant(typed: str, meant: str) -> None:
    assert neither(typed, "s3://bucket/prefix") == (
        f"'{typed}' is neither s3://bucket/prefix nor a folder; did you mean {meant}"
    )


def test_an_address_of_another_store_says_what_weir_reads() -> None:
    assert neither("gs://bucket/a", "s3://bucket/prefix").endswith(
        ": Weir reads folders, and stores that speak S3 (another than Amazon's by AWS_ENDPOINT_URL)"
    )
