"""Whether a text that stands in the person's place was typed by a person, and what of it is theirs."""

from __future__ import annotations

from chitta.admission.tokens import clean_prompt
from chitta.capture.events import bounded
from chitta.capture.own_block import cut
from chitta.turn import SYNTHETIC_STARTS

#: How texts begin that a client writes in the person's name, beside those that begin a prompt.
_CLIENT_STARTS = (
    "<command-name",
    "<command-message",
    "<local-command-",
    "<bash-",
    "<user-prompt-submit-hook",
    "<environment_context",
    "<user_instructions",
    "<INSTRUCTIONS",
    "<skill",
    "<subagent_notification",
    "<permissions instructions",
    "# AGENTS.md instructions",
    "UserPromptSubmit hook ",
    "SessionStart:",
    "SessionStart hook ",
    "[Request interrupted",
    "[Image:",
)
#: A compaction's summary as clients hand it on.
SUMMARY_STARTS = ("This session is being continued from a previous conversation", "Another language model started to")


def words_of(text: str) -> str:
    """The person's own words in a text, or "" where it is a machine's."""
    text = text.lstrip("\ufeff\u200b\u200c\u200d\u2060 \t\r\n")
    if text.startswith((*SYNTHETIC_STARTS, *_CLIENT_STARTS, *SUMMARY_STARTS)):
        return ""
    return clean_prompt(cut(bounded(text)))
