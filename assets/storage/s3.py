"""The S3 client, and what went wrong with it in words: names of variables to set, never their values.

boto3 takes a fifth of a second to import, and is imported when a store is asked: most questions ask none.
"""

from __future__ import annotations

import os
from functools import lru_cache
from typing import TYPE_CHECKING, Literal, TypeAlias

from botocore import exceptions

from assets.storage.patience import ANSWER_SECONDS, ATTEMPTS, CONNECT_SECONDS

if TYPE_CHECKING:
    from boto3.session import Session
    from mypy_boto3_s3 import S3Client

_CREDENTIALS = (
    "Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY (with AWS_SESSION_TOKEN if temporary), "
    "or AWS_PROFILE."
)
_ENDPOINT = "Check AWS_ENDPOINT_URL_S3 or AWS_ENDPOINT_URL (neither set means Amazon's own) and the network."
_REGION = "Set AWS_DEFAULT_REGION to the bucket's region."
_PERMISSION = "The credentials need s3:ListBucket on the bucket and s3:GetObject on its objects."
_AGAIN = "Run again; if it stays so, ask whoever runs the store."

# A remedy's ``{place}`` is what names the bucket: the feed's landing, or the warehouse.
_BY_CODE = {
    "NoSuchBucket": (
        "the bucket does not exist",
        "Correct {place}, or create the bucket. Another store is named by AWS_ENDPOINT_URL_S3.",
    ),
    "NoSuchKey": ("the object is gone since it was listed", "Run again."),
    "InvalidAccessKeyId": ("the store does not know the access key", _CREDENTIALS),
    "SignatureDoesNotMatch": ("the secret key is wrong for the access key", _CREDENTIALS),
    "ExpiredToken": ("the credentials have expired", _CREDENTIALS),
    "InvalidToken": ("the session token is not valid", _CREDENTIALS),
    "TokenRefreshRequired": ("the credentials have expired", _CREDENTIALS),
    "AccessDenied": ("access is denied", f"{_PERMISSION} {_CREDENTIALS}"),
    "AllAccessDisabled": ("access is denied", _PERMISSION),
    "RequestTimeTooSkewed": ("this machine's clock is wrong", "Set the clock."),
    "PermanentRedirect": ("the bucket is in another region", _REGION),
    "AuthorizationHeaderMalformed": ("the region is not the bucket's", _REGION),
    "IllegalLocationConstraintException": ("the region is not the bucket's", _REGION),
    "InvalidBucketName": ("the bucket's name is not valid", "Correct {place}."),
}
_BY_STATUS = {
    301: _BY_CODE["PermanentRedirect"],
    401: ("the store refuses the credentials", _CREDENTIALS),
    403: _BY_CODE["AccessDenied"],
    404: ("the bucket or the object does not exist", "Correct {place}."),
    503: ("the store asks to slow down", _AGAIN),
}
_BY_TYPE: tuple[tuple[type[Exception], str, str], ...] = (
    (exceptions.NoCredentialsError, "there are no credentials", _CREDENTIALS),
    (exceptions.PartialCredentialsError, "the credentials are incomplete", _CREDENTIALS),
    (exceptions.CredentialRetrievalError, "the credentials could not be fetched", _CREDENTIALS),
    (exceptions.ProfileNotFound, "AWS_PROFILE names a profile that does not exist", _CREDENTIALS),
    (exceptions.NoRegionError, "no region is set", _REGION),
    (exceptions.InvalidRegionError, "the region's name is not valid", _REGION),
    (
        exceptions.SSLError,
        "the store's certificate is not trusted",
        "Set AWS_CA_BUNDLE to its authority's file.",
    ),
    (exceptions.EndpointConnectionError, "nothing answers at the store's address", _ENDPOINT),
    (exceptions.ConnectionError, "nothing answers at the store's address", _ENDPOINT),
    (exceptions.HTTPClientError, "the connection to the store broke", _ENDPOINT),
    (
        exceptions.ParamValidationError,
        "the bucket's name is not valid",
        "Correct {place}.",
    ),
    # What is left of ValueError: an endpoint that is no address.
    (ValueError, "the store's address is not valid", _ENDPOINT),
)


def aws_session() -> Session:
    """Where credentials and the region are found: the environment, a profile, or the machine's role."""
    import boto3

    return boto3.session.Session()


def client_faults() -> tuple[type[Exception], ...]:
    """The errors of the client and of boto3, which transfers files with it."""
    from boto3.exceptions import Boto3Error

    return (exceptions.BotoCoreError, exceptions.ClientError, Boto3Error)


def s3_client(read_timeout: int = ANSWER_SECONDS) -> S3Client:
    """A client with the usual AWS configuration: environment, profile, or the machine's role.

    ``read_timeout``: how many seconds it waits for an answer before it asks again.
    """
    from botocore.client import Config

    settings = Config(
        retries={"mode": "standard", "total_max_attempts": ATTEMPTS},
        connect_timeout=CONNECT_SECONDS,
        read_timeout=read_timeout,
    )
    session = aws_session()
    client = session.client("s3", config=settings)
    if "amazonaws.com" in client.meta.endpoint_url:
        return client
    # Other stores seldom resolve a host per bucket.
    by_path = settings.merge(Config(s3={"addressing_style": "path"}))
    return session.client("s3", config=by_path)


def kept_s3_client() -> S3Client:
    """``s3_client``, kept while the environment is as it was: making one takes longer than what it is asked.

    For small requests: it gives up a store that does not answer before a lease is over.
    """
    told = sorted((name, value) for name, value in os.environ.items() if name[:4] == "AWS_")
    return _client_of(tuple(told))


@lru_cache(maxsize=4)
def _client_of(environment: tuple[tuple[str, str], ...]) -> S3Client:
    return s3_client(read_timeout=10)


Place: TypeAlias = Literal["the feed's landing", "the warehouse"]
"""What names the bucket, and has to be corrected where that is the fault."""


def fault_of_code(code: str, place: Place) -> tuple[str, str] | None:
    """The fault that S3 means by an error's code, and what to do about it; None for a code that is not known here."""
    known = _BY_CODE.get(code)
    return known and _of_place(*known, place)


def fault_and_remedy(error: Exception, place: Place) -> tuple[str, str]:
    """What went wrong, and what to do about it, each as a phrase or sentence for a person."""
    if isinstance(error, exceptions.ClientError):
        code = error.response.get("Error", {}).get("Code", "")
        status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
        known = _BY_CODE.get(code) or _BY_STATUS.get(status)
        return _of_place(*(known or (f"the store answers {code or status}", _AGAIN)), place)
    for kind, fault, remedy in _BY_TYPE:
        if isinstance(error, kind):
            return _of_place(fault, remedy, place)
    return f"the S3 client failed with {type(error).__name__}", _AGAIN


def _of_place(fault: str, remedy: str, place: Place) -> tuple[str, str]:
    return fault, remedy.replace("{place}", place)


def is_passing(error: Exception) -> bool:
    """Whether the same may work a little later: the store is slow or failed, or the connection to it broke."""
    if isinstance(error, exceptions.ClientError):
        status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
        code = error.response.get("Error", {}).get("Code", "")
        return status >= 500 or code in ("RequestTimeout", "NoSuchKey")
    is_broken = isinstance(error, (exceptions.ConnectionError, exceptions.HTTPClientError))
    return is_broken and not isinstance(error, exceptions.SSLError)
