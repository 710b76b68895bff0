"""Whether a text that stands in the person's place was typed by a person, and what of it is theirs."""

from __future__ import annotations

import re

from chitta.admission.tokens import clean_prompt
from chitta.capture.events import bounded
from chitta.capture.own_block import cut
from chitta.safety.private import without_private
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
#: Stands where a private span was, while sentences are told apart.
_MARK = "\x00"
_SENTENCE_END = re.compile(r"((?<=[.!?;])\s+|\n)")


def words_of(text: str) -> str:
    """The person's own words in a text without what is private, or "" where it is a machine's."""
    text = text.lstrip("\ufeff\u200b\u200c\u200d\u2060 \t\r\n")
    if text.startswith((*SYNTHETIC_STARTS, *_CLIENT_STARTS, *SUMMARY_STARTS)):
        return ""
    whole = _whole_sentences(bounded(text).replace(_MARK, ""))
    return cut(clean_prompt(cut(whole))).strip()  # what was cleaned may spell a block


def _whole_sentences(text: str) -> str:
    """The text without private spans, and without sentences that one was a part of: they would mean something else."""
    if (left := without_private(text, _MARK)) == text:
        return text
    parts = _SENTENCE_END.split(left)  # sentences and what stands between them, in turn
    return without_private("".join("" if _is_torn(part) else part.replace(_MARK, "") for part in parts))


def _is_torn(part: str) -> bool:
    """Whether words stand around a mark; a span before a sentence that begins with a capital was none of its parts."""
    words = part.strip().lstrip(_MARK).lstrip()
    return _MARK in part and bool(words) and (_MARK in words or not words[0].isupper())
