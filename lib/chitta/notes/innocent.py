"""When a prompt speaks of a wrong form without ordering it: rules that a person can read, no model.

Imported on the prompt path when the daemon is away: standard library only, and cheap. A rule looks at
the sentence around a mention, and no farther than :data:`BEFORE` and :data:`AFTER` characters.
"""

from __future__ import annotations

import re
from typing import NamedTuple

BEFORE, AFTER = 300, 200

_QUOTED = re.compile(r"`[^`]*`|\"[^\"]*\"|“[^”]*”|«[^»]*»|(?<!\w)'[^']*'(?!\w)")


class Rule(NamedTuple):
    """A way of mentioning the wrong form without ordering it.

    ``pattern`` (a verbose one) is searched in the sentence, in lower case, with the mention written
    as ``§``. It is compiled on first use: most prompts hold no mention.
    ``quoted``: the rule holds only for a mention between quotes or backticks. ``thing``: only for what is
    done away with, not for the place where (*remove f from src/generated/api.py*).
    """

    name: str
    meaning: str
    pattern: str
    quoted: bool = False
    thing: bool = False


INNOCENT: tuple[Rule, ...] = (
    Rule(
        "negated",
        "The prompt itself says not to.",
        r"""\b(?:don't|dont|do\ not|doesn't|never|(?<!why\ )not|no|avoid|without|stop|instead\ of|rather\ than)\s+
        (?:(?:ever|just|to|use|using|run|running|call|calling|do|doing|add|adding|a|an|the|any)\s+){0,3}[`"']?§""",
    ),
    Rule(
        "moved away from",
        "The prompt replaces the wrong form.",
        r"""\b(?:replac|swap)\w*\b.*§.*\b(?:with|by|for)\b
        | \b(?:migrat|switch|mov|convert|chang)\w*\b.*\bfrom\s+(?:the\s+)?[`"']?§
        | §[`"']?\s*(?:->|=>|→)""",
        thing=True,
    ),
    Rule(
        "documented",
        "A quotation in a sentence about a text or about the past.",
        r"""\b(?:readme|docs?|documentation|documented|changelog|release\ notes?|wiki|tutorial|guide|comments?|typo
        |spelling|wording|heading|history|reflog|postmortem|post-mortem|the\ old|used\ to)\b""",
        quoted=True,
    ),
    Rule(
        "done by others",
        "Somebody did it, once.",
        r"""\b(?:some(?:body|one)|any(?:body|one)|who|he|she|they)\s+(?:has\s+|had\s+|have\s+)?
        (?:did|done|ran|run|used|called|made|put|added|typed)\b.*§""",
    ),
    Rule(
        "complained about",
        "A tool or a person reports it.",
        r"""\b(?:complain|warn|object)\w*\s+(?:\w+\s+)?(?:about|of|to)\s+[`"']?§
        | \b(?:flags|flagged|mentions|mentioned|forbids|bans|banned)\s+[`"']?§""",
    ),
    Rule(
        "asked about",
        "A question about it, not a request for it.",
        r"""^\W*(?:(?:and|but|so|ok|hm+)\W+)?
        (?:what|what's|which|who|where|when|why(?!\ (?:don't|not))|how\ (?:many|much|often|long)
        |does|did|is|are|was|were|has|have)\b.*§.*\?\W*$
        | ^\W*(?:(?:and|but|so|ok|hm+)\W+)?  # without its mark, where no order looks like it
        (?:how\ (?:many|much|often|long|does|did|is|are|was|were)|why(?!\ (?:don't|not|won't|wouldn't))
        |who(?!\ (?:can|could|will|wants))|which(?!\ (?:means|is|will|would|should))
        |what(?:'s|\ (?:is|are|was|were|does|do|did|happen(?:s|ed)|version))
        |(?:where|when)\ (?:is|are|was|were|does|do|did)
        |(?:does|did|is|are|was|were|has)(?!\ (?:not|there|it|missing|broken)))\b
        (?:(?![,:]|\b(?:and|then|so)\b).)*§""",
    ),
    Rule(
        "looked for",
        "The prompt begins with a verb of reading, and the mention is what is read.",
        r"""^\W*(?:(?:please|now|then|first|just|can\ you|could\ you)\W+)*
        (?:list|count|find|grep|search|show\ me|explain|describe|tell\ me|summari[sz]e)\b
        (?!.*(?:[,:]|\b(?:and|then|so))\s+(?:(?:then|run|do|use|call)\s+)*[`"']?§).*§""",
    ),
    Rule(
        "told of the past",
        "Somebody tells what was done, or what came of it.",
        r"""(?!.*\b(?:again|retry|once\ more)\b)
        (?:\b(?!please\b|then\b|now\b)\w+\s+(?:had\s+|have\s+|has\s+|already\s+|just\s+|once\s+){0,2}
        (?:ran|did|used|wrote|left(?!-)|made|called|typed|tried|added|had|pushed|committed)\b.{0,60}§
        | ^[^,]{0,60}§(?!\.\w).{0,40}\b(?:didn't|did\ not|doesn't|failed|fails|broke|breaks|was|were|wasn't|used\ to)\b
        | \b(?:he|she|they|we|i)\s+would\b.{0,30}§
        | §.*\b(?:before(?=\s*[,.?]|\s*$)|earlier|back\ then|previously|yesterday|last\ (?:week|month|year|time))\b)""",
    ),
    Rule(
        "removed",
        "It is to go, or gone.",
        r"""\b(?:remove|removing|delete|deleting|drop|get\ rid\ of|strip|eliminate|clean\ up|purge
        |no\ longer\s+\w+)\b.{0,40}§
        | §.{0,80}[,;]\s*(?:delete|remove|drop)\s+(?:it|them|that|this)\b""",
        thing=True,
    ),
    Rule(
        "said by a text",
        "A document, a tool or a person says it.",
        r"""\b(?:tutorial|runbook|docs?|documentation|readme|guide|linter|wiki|article|blog|manual|compiler|book|policy)\b.{0,40}
        \b(?:says?|said|told|tells?|recommends?|suggests?|mentions?|wants?|shows?|calls?)\b.{0,40}§
        | \b(?:said|says|wrote|writes|quote|quoted|asked|told\ (?:me|us))\b\W{0,4}["“'`«].*§
        | §.{0,30}\b(?:is|are|be)\s+
        (?:forbidden|banned|not\ allowed|disallowed|prohibited|deprecated|wrong|dangerous)\b
        | \bask(?:s|ed)?\s+(?:us\s+|me\s+)?(?:if|whether)\b.*§""",
    ),
    Rule(
        "compared or translated",
        "It stands beside another form.",
        r"""§[`"']?\s+(?:vs\.?|versus)\b | \b(?:translate|difference\ between|compare)\b.*§""",
    ),
    Rule(
        "kept from others",
        "Nobody is to do it.",
        r"""\b(?:nobody|no\ one|noone|nothing)\b.{0,30}§
        | \b(?:ban|forbid|prevent|disallow|block|reject|refus|den)\w*\b.{0,40}§""",
    ),
    Rule(
        "pasted",
        "A line of a shell's trace.",
        r"""^\s*(?:\+{1,3}|\$|>|\#)\s+[`"']?§""",
    ),
    Rule(
        "asked for an opinion",
        "The sentence ends in a question about it.",
        r"""§.*\b(?:right|correct|ok|okay|allowed|safe|a\ good\ idea|why)\s*\?\W*$""",
    ),
    Rule(
        "in another script",
        "Chinese and Japanese negations, questions and reports.",
        r"""(?:不要|别|勿|不能|不可|不得|禁止|谁|为什么|为何|文档|说不|なぜ|誰|どうして).*§
        | §.*(?:しないで|ないで|なぜ|したの|駄目|だめ|ダメ|いけない|禁止|吗|了？|了\?)""",
    ),
)


def innocent(sentence: str, start: int, end: int, *, place: bool = False) -> Rule | None:
    """The first rule that explains the mention at ``[start, end)`` of a normalised sentence; of a ``place``,
    a rule that is not about things."""
    begin = max(start - BEFORE, 0)
    sentence, start, end = sentence[begin : end + AFTER], start - begin, end - begin
    quoted = any(found.start() < start and end < found.end() for found in _QUOTED.finditer(sentence))
    marked = f"{sentence[:start]}§{sentence[end:]}"
    for rule in INNOCENT:
        if (quoted or not rule.quoted) and not (place and rule.thing) and re.search(rule.pattern, marked, re.VERBOSE):
            return rule
    return None
