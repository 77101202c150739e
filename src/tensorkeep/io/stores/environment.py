"""What the environment and the clouds' own files say of a store, in the words of obstore.

obstore itself reads the usual variables: AWS_ACCESS_KEY_ID, AWS_REGION, GOOGLE_APPLICATION_CREDENTIALS,
AZURE_STORAGE_ACCOUNT_NAME and the like, and asks the machine for its role. What it does not know is here: the profiles
in `~/.aws`, AWS's names for endpoints, the variables by which Google's tools find an emulator.
"""

from __future__ import annotations

import os
from pathlib import Path

from tensorkeep.errors import FailedPreconditionError

Options = dict[str, str | int | float | bool]

_OF_PROFILE = {
    "aws_access_key_id": "access_key_id",
    "aws_secret_access_key": "secret_access_key",
    "aws_session_token": "session_token",
    "region": "region",
    "endpoint_url": "endpoint",
}


def environment_options(scheme: str) -> Options:
    """Options that the surroundings give for the stores of a scheme."""
    found: Options = {}
    if scheme == "s3":
        found = _of_aws()
    elif scheme == "gs" and (host := os.environ.get("STORAGE_EMULATOR_HOST")):
        found = {"base_url": host if "://" in host else f"http://{host}", "skip_signature": True}
    elif scheme in ("az", "abfs", "abfss") and os.environ.get("AZURE_STORAGE_CONNECTION_STRING"):
        found = _of_connection_string(os.environ["AZURE_STORAGE_CONNECTION_STRING"])
    return found


def _of_aws() -> Options:
    found: Options = {}
    if endpoint := os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL"):
        found["endpoint"] = endpoint
    if not os.environ.get("AWS_ACCESS_KEY_ID"):
        found = {**_of_aws_files(), **found}
    if "AWS_REGION" in os.environ or "AWS_DEFAULT_REGION" in os.environ:
        found["region"] = os.environ.get("AWS_REGION") or os.environ["AWS_DEFAULT_REGION"]
    return found


def _of_aws_files() -> Options:
    """What `~/.aws/credentials` and `~/.aws/config` say of the profile in use."""
    import configparser  # which few need

    wanted = os.environ.get("AWS_PROFILE")
    profile = wanted or "default"
    sections = [
        (os.environ.get("AWS_CONFIG_FILE", "~/.aws/config"), profile if profile == "default" else f"profile {profile}"),
        (os.environ.get("AWS_SHARED_CREDENTIALS_FILE", "~/.aws/credentials"), profile),
    ]
    found: Options = {}
    has_section = False
    for path, section in sections:
        parser = configparser.RawConfigParser()
        try:
            parser.read(Path(path).expanduser(), encoding="utf-8")
        except (configparser.Error, OSError, UnicodeDecodeError):
            raise FailedPreconditionError(f'"{path}" cannot be read as a file of profiles of AWS') from None
        if parser.has_section(section):
            has_section = True
            found.update((_OF_PROFILE[name], value) for name, value in parser.items(section) if name in _OF_PROFILE)
    if wanted and not has_section:
        raise FailedPreconditionError(
            f'AWS_PROFILE is "{wanted}", and neither ~/.aws/config nor ~/.aws/credentials has such a profile'
        )
    return found


def _of_connection_string(text: str) -> Options:
    """What a connection string of Azure says: `AccountName=...;AccountKey=...;BlobEndpoint=...`."""
    parts = dict(part.split("=", 1) for part in text.split(";") if "=" in part)
    names = {
        "AccountName": "account_name",
        "AccountKey": "account_key",
        "BlobEndpoint": "endpoint",
        "SharedAccessSignature": "sas_key",
    }
    return {names[name]: value for name, value in parts.items() if name in names}
