"""What time it is, for ages of notes and for words such as yesterday."""

from __future__ import annotations

from datetime import datetime

from chitta.settings import Settings


def now(settings: Settings) -> datetime:
    """Now, in this machine's zone; noon of CHITTA_TODAY where that is a date, so that a measurement stays the same."""
    fixed = settings.text("CHITTA_TODAY").strip()
    try:
        return datetime.fromisoformat(f"{fixed[:10]}T12:00:00").astimezone() if fixed else datetime.now().astimezone()
    except ValueError:
        return datetime.now().astimezone()
