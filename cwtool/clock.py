"""The time of a run, as logs and histories have it: UTC, ISO 8601."""

from __future__ import annotations

import os
from datetime import datetime, timezone

from cwtool.errors import UsageError

FIXED = "SOURCE_DATE_EPOCH"  # seconds since 1970 that stand for the present, if this is set


def now(resolution: str = "seconds") -> str:
    """2026-11-17T04:05:06Z. The variable SOURCE_DATE_EPOCH sets it, so that a run can be repeated
    to the byte."""
    return moment().isoformat(timespec=resolution).replace("+00:00", "Z")


def today() -> int:
    """The date as days from the year 1."""
    return moment().toordinal()


def moment() -> datetime:
    fixed = os.environ.get(FIXED)
    if not fixed:
        return datetime.now(timezone.utc)
    try:
        return datetime.fromtimestamp(int(fixed), timezone.utc)
    except (ValueError, OverflowError, OSError):
        raise UsageError(
            f"the variable {FIXED} is {fixed!r}, which is not a number of seconds", "unset it"
        ) from None
