"""The errors of stores as ours, with the remedy and without secrets.

What a store answers may repeat what it was sent: signed addresses, names of keys, headers. So nothing of an answer is
shown but what is picked out of it: the store's own code for the error (`NoSuchBucket`), the status, and the kind of
failure on the way.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from tensorkeep.errors import (
    AlreadyExistsError,
    DeadlineExceededError,
    FailedPreconditionError,
    InvalidArgumentError,
    MissingFileError,
    PermissionDeniedError,
    ResourceExhaustedError,
    StorageError,
    TensorKeepError,
    UnauthenticatedError,
    UnavailableError,
    UnimplementedError,
)

_CODE: Final = re.compile(r"<Code>([A-Za-z]{1,64})</Code>|\"(?:reason|code)\": ?\"?([A-Za-z]{1,64})")
_STATUS: Final = re.compile(r"status code: (\d{3})")

_NO_CONTAINER: Final = {"NoSuchBucket", "ContainerNotFound", "NoSuchContainer", "BucketNotFound"}
_NO_IDENTITY: Final = {
    "InvalidAccessKeyId",
    "SignatureDoesNotMatch",
    "ExpiredToken",
    "InvalidToken",
    "TokenRefreshRequired",
    "AuthenticationFailed",
    "InvalidAuthenticationInfo",
    "NoAuthenticationInformation",
    "AuthFailure",
}
_WRONG_REGION: Final = {"PermanentRedirect", "AuthorizationHeaderMalformed", "IllegalLocationConstraintException"}
_NO_CREDENTIALS: Final = (
    "Failed to get AWS credentials",
    "latest/api/token",
    "169.254.169.254",
    "metadata.google.internal",
    "Error performing token request",
    "Failed to find account",
    "Account must be specified",
    "computeMetadata",
    "Missing credentials",
)
_CONNECTION: Final = re.compile(
    r"error sending request|ConnectError|dns error|Connection (?:refused|reset)|connection closed"
)


class CutAnswerError(UnavailableError):
    """An answer began and did not end. obstore does not ask again then; whoever can, does."""


@contextmanager
def explained_errors(action: str, url: str) -> Iterator[None]:
    """Turns the errors of obstore into ours, naming what was tried, on which URL, and what to do."""
    try:
        yield
    except TensorKeepError:
        raise
    except Exception as error:
        raise translated_error(error, action, url) from None  # whose text may hold secrets


def translated_error(error: BaseException, action: str, url: str) -> TensorKeepError:
    """One of our errors for one of obstore's."""
    if isinstance(error, TensorKeepError):
        return error
    text, what = str(error), f'cannot {action} "{url}"'
    kind = type(error).__name__
    found = _CODE.search(text)
    code = (found[1] or found[2]) if found else ""
    status = int(match[1]) if (match := _STATUS.search(text)) else 0
    by_code = _by_code(code, status, what, url)
    if by_code is not None:
        return by_code
    if isinstance(error, FileNotFoundError) or kind == "NotFoundError" or status == 404:
        return MissingFileError(f'"{url}" does not exist')
    if kind == "AlreadyExistsError":
        return AlreadyExistsError(f"{what}: it exists")
    if kind in ("PreconditionError", "NotModifiedError"):
        return FailedPreconditionError(f"{what}: it was replaced meanwhile")
    if kind == "UnauthenticatedError" or status == 401:
        return _unknown_user(what, url, code)
    if kind == "PermissionDeniedError" or isinstance(error, PermissionError) or status == 403:
        return PermissionDeniedError(
            f"{what}: permission denied{_code_text(code)}; the credentials in use lack the right, or the bucket lets "
            "nobody in without some"
        )
    if kind in ("NotSupportedError", "NotImplementedError"):
        return UnimplementedError(f"{what}: the store does not offer that")
    if kind in ("InvalidPathError", "ValueError"):
        return InvalidArgumentError(f"{what}: no store takes such a key")
    if kind == "UnknownConfigurationKeyError":
        return InvalidArgumentError(f"{what}: an option that tensorkeep.storage was given is not known to that store")
    return _on_the_way(text, status, what, url, code)


def _by_code(code: str, status: int, what: str, url: str) -> TensorKeepError | None:
    if code in _NO_CONTAINER:
        return MissingFileError(
            f"{what}: there is no such bucket or container ({code}); it is not made by writing to it, so create it, "
            "or correct the name or the endpoint"
        )
    if code in _NO_IDENTITY:
        return _unknown_user(what, url, code)
    if code in _WRONG_REGION or status == 301:
        return FailedPreconditionError(
            f"{what}: the bucket is in another region{_code_text(code)}; set AWS_REGION, or "
            "tensorkeep.storage(url, region=...)"
        )
    if code in ("SlowDown", "TooManyRequests", "ServerBusy") or status in (429, 503):
        return UnavailableError(f"{what}: the store asks for fewer requests{_code_text(code)}, after several attempts")
    if code in ("QuotaExceeded", "InsufficientStorage") or status == 507:
        return ResourceExhaustedError(f"{what}: no space is left in the store{_code_text(code)}")
    return None


def _unknown_user(what: str, url: str, code: str) -> TensorKeepError:
    return UnauthenticatedError(
        f"{what}: the store does not accept the credentials in use{_code_text(code)}; see how "
        f"{url.partition('://')[0]}:// finds them: {_finding(url)}"
    )


def _on_the_way(text: str, status: int, what: str, url: str, code: str) -> TensorKeepError:
    """Of what went wrong between here and the store."""
    if any(sign in text for sign in _NO_CREDENTIALS):
        return UnauthenticatedError(f"{what}: no credentials were found; {_finding(url)}")
    if "timed out" in text or "TimedOut" in text or "deadline" in text:
        return DeadlineExceededError(f"{what}: the store did not answer in time, after several attempts")
    if _CONNECTION.search(text):
        return UnavailableError(
            f"{what}: the store cannot be reached, after several attempts; look at the network, and at the endpoint"
        )
    if status >= 500:
        return UnavailableError(f"{what}: the store answers {status}{_code_text(code)}, after several attempts")
    if "NotPartial" in text or "UnexpectedRange" in text or status == 416:
        return UnimplementedError(f"{what}: the server does not serve ranges of it")
    if not status and ("incomplete" in text or "body" in text.lower() or "Truncated" in text):
        return CutAnswerError(f"{what}: the connection ended before the answer did, after several attempts")
    shown = f"status {status}{_code_text(code)}" if status else "the request failed"
    return StorageError(f"{what}: {shown}")


def _code_text(code: str) -> str:
    return f" ({code})" if code else ""


def _finding(url: str) -> str:
    scheme = url.partition("://")[0]
    if scheme == "s3":
        return (
            "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, AWS_PROFILE, ~/.aws/credentials, a role of the machine; for "
            "a public bucket, tensorkeep.storage(url, skip_signature=True)"
        )
    if scheme == "gs":
        return (
            "GOOGLE_APPLICATION_CREDENTIALS, `gcloud auth application-default login`, a service account of the "
            "machine; for a public bucket, tensorkeep.storage(url, skip_signature=True)"
        )
    if scheme in ("az", "abfs", "abfss"):
        return (
            "AZURE_STORAGE_ACCOUNT_NAME with AZURE_STORAGE_ACCOUNT_KEY or a SAS token, `az login` with "
            "AZURE_USE_AZURE_CLI=true, an identity of the machine"
        )
    return "tensorkeep.storage(url, headers={...})"
