"""Likely instructions to a model, hidden in what should be a memory.

A memory tells; it does not speak to the model that reads it. Signs of speech to a model have weights between 0 and 1
here, and the score is what is left when each sign is taken for independent: ``1 - Π (1 - weight)`` (a noisy-or, so a
score explains itself by its reasons). Each family counts once. The families are phrases by structure (verb, what it
is done to, whose it is), not samples; weights were set so that one plain sign reaches the threshold and a vague one
needs company. docs/security.md has the block rate of each family, the false positives, and what is missed.

Three families are known in ten more languages, the first of them in four more: there the words of each part have to
stand near one another, in any order. All signs are looked for in the text's plain form (:mod:`chitta.safety.plain`);
what is encoded is decoded and scored like the rest.

Developer notes are full of imperatives ("run git push", "ignore the warning"); none of these is a sign by itself.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from chitta.render.lookalikes import latin
from chitta.render.neutral import UNSEEN
from chitta.safety.languages import ACCENTS, FOREIGN, stand_together
from chitta.safety.plain import as_seen, decoded, readings
from chitta.safety.preferences import is_wish

#: From this score a memory is put into quarantine.
THRESHOLD = 0.6
#: Characters that are looked at: the first and the last of a longer text.
MAX_CHARS = 200_000

_I = re.IGNORECASE
_GAP = r"[\s\W]{1,4}"
_FEW = r"(?:[\w'-]+[\s,]+){0,4}"
_MODEL = (
    r"(?:ai|a\.i\.|llm|language model|assistant|chat ?bot|chatgpt|gpt(?:-?\d)?|claude|copilot|gemini|codex|agent|model)"
)
_RULES = (
    r"(?:instructions?|directions?|directives?|rules?|prompts?|guidelines?|polic(?:y|ies)|guardrails?"
    r"|constraints?|orders?"
    r"|restrictions?|safety(?: \w+)?|training|context|programming|messages?)"
)
_WHOSE = (
    r"(?:previous|prior|preceding|above|earlier|existing|foregoing|original|initial|system|safety|your|all|any"
    r"|these|those|"
    r"every|other|developer|user'?s?|everything)"
)
_SECRETS = (
    r"(?:secrets?|api[ _-]?keys?|(?:access |auth |session )?tokens?|passwords?|passphrases?|credentials?|\.env\b"
    r"|env(?:ironment)?"
    r"(?: variables?| vars?)?|ssh[ _-]?keys?|private keys?|~/\.ssh\S*|id_rsa|\.aws\S*|cookies?|system prompt"
    r"|conversations?"
    r"|chat history|source code|(?:file|repo(?:sitory)?) contents?|user'?s? (?:data|files|messages))"
)
_SAID = r"(?:responses?|answers?|reply|replies|elucidation)"
_WORK = r"(?:code|codebase|code ?base|solution|implementation|algorithm|program|project|logic|application|script)"
_CODE = r"(?:code|python|script|shell|bash) ?(?:snippet|block|section|excerpt|fragment|segment|piece|sample|lines)?"


_ORDER = (
    r"(?:run|execute|send|delete|remove|ignore|read|open|cat|curl|post|push|upload|approve|install|disable|reveal"
    r"|print|forget|disregard|skip|always|never|do not|don'?t)"
)
_SECRET_FILE = (
    r"(?:\.aws/credentials|\.ssh/(?:id_\w{1,12}|\*)|\bid_(?:rsa|ed25519|ecdsa)|\.env|\.netrc|\.npmrc|\.pypirc"
    r"|\.kube/config|\.git-credentials|\.docker/config\.json|\.gnupg\S{0,20}|/etc/shadow)(?!\.pub|[\w.])"
)


class Suspicion(NamedTuple):
    """How much a text speaks to a model, 0 to 1, and why, in words for people."""

    score: float
    reasons: tuple[str, ...]

    @property
    def likely(self) -> bool:
        """Whether the score reaches the threshold."""
        return self.score >= THRESHOLD


class _Sign(NamedTuple):
    weight: float
    reason: str
    pattern: re.Pattern[str]


_SIGNS: tuple[_Sign, ...] = (
    _Sign(
        0.9,
        "asks to set aside other instructions",
        re.compile(
            rf"\b(?:ignor|disregard|forget|overrid|bypass|discard|neglect|circumvent|set aside|stop (?:follow|obey)|"
            rf"(?:do not|don'?t|never|no longer) (?:follow|obey|comply with"
            rf"|listen to))\w*\b{_GAP}{_FEW}{_WHOSE}{_GAP}{_FEW}{_RULES}\b"
            rf"|\b(?:ignor|disregard|forget|discard)\w*\b{_GAP}(?:everything|anything|all)(?: that)?(?: was"
            rf"| has been| you were| i)?"
            rf" (?:above|before|said|told|prior|previous)",
            _I,
        ),
    ),
    _Sign(
        0.8,
        "gives the model another role or frees it of its rules",
        re.compile(
            r"\byou are now (?:an? |the |called |named |free |acting|operating|unrestricted|uncensored|dan\b|my "
            r"|in \w+ mode)|\byou are no longer (?:an? |the |bound|restricted|limited|required|chatgpt|claude)"
            r"|\b(?:from now on|henceforth|going forward)[, ]+you(?:'re| are| will| must| shall)\b"
            rf"|\b(?:act|behave|respond|pretend)\b (?:as|like|to be) (?:if you (?:are|were)|an? (?:unrestricted"
            rf"|uncensored|evil|{_MODEL})\b)"
            r"|\b(?:god|dan|jailbreak|unrestricted|uncensored) mode (?:is )?(?:enabled|activated|on|engaged)\b"
            r"|\bjailbr(?:eak|oken)\b|\bdo anything now\b"
            r"|\b(?:new|updated|revised|real) (?:system )?(?:prompt|instructions?|directives?|persona)\s*:"
            r"|\bno (?:ethical|content|safety) (?:restrictions|guidelines|filters)\b",
            _I,
        ),
    ),
    _Sign(
        0.85,
        "imitates the frame of a conversation or of the harness",
        re.compile(
            r"[<\u2039][\s\\/_\uff0f]{0,8}(?:system[-_ ](?:reminder|prompt|message)"
            r"|/(?:system|assistant)|user[-_ ]prompt(?:-submit)?(?:-hook)?|"
            r"(?:\w+[-_])?hook[-_]?(?:context|output)|instructions?|function[-_]?(?:calls?|results?)"
            r"|tool[-_]?(?:use|calls?|results?|code|response)|"
            r"(?:antml:)?(?:invoke|parameter|function_calls|thinking)|invoke|local-command-\w+|command-(?:name"
            r"|message|args)|chitta[-_]\w+)\b[^<>\n]{0,200}[>\u203a]"
            r"|<\|(?:im_start|im_end|start_header_id|end_header_id|eot_id|system|user|assistant|begin_of_text"
            r"|channel|start_of_turn)\|>|<system>"
            r"|<(?:start|end)_of_turn>|\[/?INST\]|<</?SYS>>|\[(?:SYSTEM|ASSISTANT|SYSTEM MESSAGE|SYSTEM PROMPT)\]"
            r"|^[^\S\n]{0,8}(?:#{1,6} {0,4})?(?:system|assistant|human|system prompt"
            r"|system message)[^\S\n]{0,4}:[^\S\n]{1,4}\S.{0,200}\b(?:you|ignore|must|follow|obey|now|approved?)\b"
            rf"|^[^\S\n]{{0,8}}(?:human|assistant|ai|system)[^\S\n]{{0,4}}:\s{{1,4}}(?:(?:please|now|then|first|ok(?:ay)?|sure"
            rf"|yes)[, ]{{1,2}})?{_ORDER}\b"
            r"|\"?(?:hookSpecificOutput|permissionDecision|additionalContext|tool_use_id|systemMessage)\"?\s{0,8}:"
            r"|\"type\"\s{0,8}:\s{0,8}\"tool_(?:use|result)\""
            r"|---\s{0,4}(?:end|begin) of (?:memory|context|notes?|system prompt|instructions)",
            _I | re.MULTILINE,
        ),
    ),
    _Sign(
        0.75,
        "asks to send secrets or private data somewhere",
        re.compile(
            rf"\b(?:send|post|upload|exfiltrat\w*|forward|e?mail|transmit|leak|submit|publish|copy|report|curl"
            rf"|append|encode|include|print|reveal|dump|output|paste)\b"
            rf"[^.\n]{{0,40}}\b(?:your|the|their|all|any|every|contents? of|my|stored|saved|local|these|its"
            rf"|full)\b[^.\n]{{0,30}}{_SECRETS}[^.\n]{{0,60}}"
            r"(?:\b(?:to|at|via|into|in) (?:https?:|ftp:|www\.|the (?:url|server|address|attacker|endpoint"
            r"|following)|attacker|[\w.-]+@|\S{1,80}\.(?:com|net|org|io|xyz|evil|invalid|example|test)))"
            r"|\b(?:reveal|repeat|print|show|output|tell me|disclose|leak|recite)\b (?:me |us |back )?(?:your"
            r"|the) (?:full |entire |whole |exact |hidden |initial |original )*(?:system prompt"
            r"|system instructions|hidden instructions|initial prompt)",
            _I,
        ),
    ),
    _Sign(
        0.75,
        "asks to hide something from the person",
        re.compile(
            r"\b(?:do not|don'?t|never|must not|without|avoid|refrain from)\b (?:\w+ ){0,2}?(?:tell|telling"
            r"|mention|mentioning|inform|informing|reveal|revealing|notify|notifying|alert|alerting|disclos\w+"
            r"|ask|asking|show|showing|warn|warning|confirm\w*)\b"
            r"(?: (?:this|it|that|anything|about|to|with|for|any of this))* (?:the |any |your "
            r"|this to the )?(?:user|human|operator|developer|person|owner|anyone)\b(?!'s| (?:ids?|names?|list"
            r"|table|data|agent|interface|menu|settings|input)\b)"
            r"|\b(?:hide|conceal|keep)\b (?:this|it|that|these)(?: \w+){0,2} (?:secret"
            r"|hidden)?\s?from (?:the )?(?:user|human|operator|anyone)"
            r"|\bwithout (?:the )?user'?s? (?:knowledge|consent|permission|noticing)",
            _I,
        ),
    ),
    _Sign(
        0.75,
        "claims a permission that only the person can give",
        re.compile(
            r"\b(?:the )?(?:user|human|operator|owner|administrator|admin|developer) (?:has|have"
            r"|had)(?: \w+){0,2} (?:pre-?)?(?:approved|authori[sz]ed|granted|consented|confirmed|permitted"
            r"|allowed|agreed)\b"
            r"|\b(?:all|any|every) (?:tool )?(?:calls?|tools?|commands?|actions?|permissions?) (?:is|are"
            r"|have been|has been)(?: \w+){0,2} (?:pre-?)?(?:approved|authori[sz]ed)\b"
            r"|\b(?:you (?:have|are)|permission is)(?: \w+){0,2} (?:pre-?)?(?:authori[sz]ed|full permission"
            r"|approved) (?:to|for)\b",
            _I,
        ),
    ),
    _Sign(
        0.65,
        "speaks to the model by name",
        re.compile(
            rf"\b(?:dear|hey|hello|hi|attention|note to(?: the| any)?|message to(?: the| any)?"
            rf"|instructions? (?:to|for)(?: the| any| all)?|important (?:for|message to)(?: the"
            rf"| any)?) {_MODEL}s?\b(?! (?:file|config|layer))"
            rf"|\b(?:if|when|since|because) you(?:'re| are) an? (?:\w+ )?{_MODEL}\b|\bas an (?:ai|llm)\b|\b(?:ai"
            rf"|llm) (?:assistants?|agents?|models?)? ?(?:must|should|shall|reading this|are required"
            rf"|is required)\b"
            rf"|^[^\S\n]{{0,8}}(?:\w{{1,20}}: )?{_MODEL} {{0,2}}[,:][^\S\n]{{1,4}}(?:please |you |always |never "
            rf"|do |run |now |stop |ignore |execute |must )"
            r"|\byou (?:must|shall|have to|are required to|are to)(?: now| always| immediately)? (?:comply|obey"
            r"|execute|follow (?:these|this|the following|my)|respond|reply|answer|never (?:refuse|mention))\b",
            _I | re.MULTILINE,
        ),
    ),
    _Sign(
        0.7,
        "says how the model is to answer",
        re.compile(
            rf"\b(?:in|to|into|of|for|using|with|at the (?:end|start|beginning) of|within"
            rf"|throughout)? ?\byour(?: \w+){{0,2}} {_SAID}(?:'s)?\b"
            r"|^[^\w\n]{0,8}(?:please |can you |always |only )?(?:reply|respond|answer)\b (?:(?:only"
            r"|always) )?(?:in (?:reverse|rhyme|verse|all caps|capitals|the style|one word|pirate|morse"
            r"|base\s?\d+|german|french|hindi|arabic|greek|dutch|thai|\w+(?:ish|ese|ian))\b|using|as if|as an?"
            r"|backwards?|exactly|to every|only)\b"
            r"|\b(?:begin|start|end|finish|precede|prefix) (?:every|each|all|any)(?: \w+){0,2} (?:response|answer"
            r"|reply|message)"
            rf"|\b(?:every|each|all|any) {_SAID} (?:of yours|(?:that )?you (?:give|make|write|send))\b"
            rf"|\b(?:from now on|from here on|henceforth|going forward|from this point on)\b[^.\n]{{0,40}}\b{_SAID}\b"
            r"[^.\n]{0,40}\b(?:begins?|starts?|ends?|contains?|includes?|finish(?:es)?|must|shall|has to|have to)\b",
            _I | re.MULTILINE,
        ),
    ),
    _Sign(
        0.7,
        "asks to put code of its own into the person's work",
        re.compile(
            rf"\b(?:the )?(?:following|subsequent|below|next|given|provided"
            rf"|attached) {_CODE}(?: below)?\b[^\n]{{0,80}}\b(?:your|the code you)\b[^\n]{{0,60}}"
            rf"|\byour(?: \w+){{0,2}} {_WORK}\b[^\n]{{0,80}}\b(?:the )?(?:following|subsequent|below|next"
            rf"|given) {_CODE}"
            rf"|^[^\w\n]{{0,8}}(?:\w+ )?(?:don'?t (?:hesitate|forget)|remember|be sure|make sure|ensure|consider"
            rf"|keep in mind|execute|it may be)\b[^\n]{{0,80}}\b(?:following|subsequent|below) {_CODE}",
            _I | re.MULTILINE,
        ),
    ),
    _Sign(
        0.75,
        "asks to decode something and to follow it",
        re.compile(
            r"\b(?:decode|decipher|decrypt|unscramble|deobfuscate|unbase64|rot-?13|base-?64|reverse)\b[^\n]{0,100}"
            r"(?:\b(?:and|then)|[,;.:])\s(?:then )?(?:please )?(?:follow\b|obey\b|comply\b|act (?:up)?on\b"
            r"|(?:do|execute|perform|carry out|run)\b (?:exactly |precisely )?(?:what(?:ever)? (?:it|is|that|this|you)"
            r"|as (?:it|told|instructed)"
            r"|(?:it|the|its|this|those|these|any) ?(?:instructions?|orders?|result|steps|tasks?)))",
            _I,
        ),
    ),
    _Sign(
        0.8,
        "imitates a line of the block that memories are shown in",
        re.compile(
            r"^[^\S\n]{0,8}(?:[^\w\s\[]{1,3}[^\S\n]{0,4}){0,2}\[(?:corr|corrk|ctx|hyb|kw|sem|xr)\] \S"
            r"|\[admit\][^\S\n]{1,4}\S",
            re.MULTILINE,
        ),
    ),
    _Sign(
        0.7,
        "asks to read a file of secrets and to go on with it",
        re.compile(
            rf"\b(?:read|cat|open|print|copy|load|get|take|grab|type|base64|fetch|tar|zip)\b[^\n]{{0,40}}{_SECRET_FILE}"
            r"(?:[`'\"\s]{0,4}(?:and|then)?(?: then)?[\s,.…]{0,4}\Z|[`'\"]{0,2} (?:and|then)[ .…]{0,4}$"
            r"|[^\n]{0,60}\b(?:send|post|curl|wget|nc|upload|exfiltrate|e?mail|transmit|forward|publish|paste)\b"
            r"[^\n]{0,80}(?:https?:|ftp:|\S@\S|\bto \S{1,60}\.\w\w|\bthem\b|\bit\b|\bcontents?\b))"
            rf"|\b(?:curl|wget|nc)\b[^\n]{{0,120}}(?:@|<|\$\(cat )\S{{0,40}}{_SECRET_FILE}",
            _I | re.MULTILINE,
        ),
    ),
)


#: Weights of signs that are no phrases.
HIDDEN, DIRECTION, TERMINAL, LOOKALIKE, LONE_REQUEST, SECOND_HEADER = 0.9, 0.65, 0.65, 0.5, 0.6, 0.65
NOTHING_BUT_CODED = 0.65
_TAGS = re.compile("(?<!\U0001f3f4)[\U000e0000-\U000e007e]{4,}")
_BIDI = re.compile("[\u202a-\u202e\u2066-\u2069]")
# All that is unseen but controls, which come first there.
_INSIDE_WORD = re.compile("[A-Za-z][\u00ad" + UNSEEN.partition("\u00ad")[2] + "][A-Za-z]")
_ESCAPE = re.compile("\x1b[\\]P_^X]|\x1b\\[[0-9;?]*[A-HJKSTfhlnsu]|\x9b|\x9d")
_MIXED = re.compile("[A-Za-z][\u0370-\u03ff\u0400-\u04ff]+[A-Za-z]|\\b[\u0400-\u04ff]{1,2}[A-Za-z]{3,}\\b")
_HEADERS = re.compile(r"^---[ \t]*\n(?:[A-Za-z_]+:.*\n)+---[ \t]*\n\s*---[ \t]*\n(?:[A-Za-z_]+:.*\n)+---", re.MULTILINE)

# A whole memory that is one request or question to a model rather than something learned.
_ASKS = re.compile(
    r"(?:please |can you |could you |would you |kindly )?(?:explain|describe|summari[sz]e|compose|translate"
    r"|tell me|give me|suggest|analy[sz]e|"
    r"recommend|paraphrase|rewrite|brainstorm|break down|provide (?:a|an|the|some|insights|examples?)"
    r"|write (?:me )?(?:a|an) (?:\w+ )?(?:poem|story|letter|essay|email|song|summary|article|speech|joke)|"
    r"(?:misspell|scramble|anagram|rearrange|encrypt|substitute|replace|shift|reverse) (?:\w+ ){0,3}(?:letters?"
    r"|words?|vowels?|characters?|consonants?))\b",
    _I,
)
_QUESTION = re.compile(
    r"(?:(?:can|could|would|will) you|(?:what|who|whom|whose|when|where|why|which"
    r"|how)(?:'s)?\s(?:\w+\s){0,3}?(?:is|are|was|were|do|does|did|can|could|should|would|wrote|will|many|much"
    r"|movies?)|is this|are there)\b[^\n]*\?",
    _I,
)
_LONE_CHARS = 240


def suspicion(text: str) -> Suspicion:
    """How likely ``text`` holds instructions to the model that will read it. Pure, linear, never raises."""
    if is_wish(text):
        return Suspicion(0.0, ())
    if len(text) > MAX_CHARS:
        text = text[: MAX_CHARS // 2] + "\n" + text[-MAX_CHARS // 2 :]
    found = [*_hidden_signs(text), *_spoken_signs(text), *_coded_signs(text)]
    if not found and _is_lone_request(latin(as_seen(text))):
        found.append((LONE_REQUEST, "is nothing but a request or a question"))
    left = 1.0
    for weight, _ in found:
        left *= 1 - weight
    return Suspicion(round(1 - left, 3), tuple(reason for _, reason in found))


def asks_alone(text: str) -> bool:
    """Whether ``text`` as a whole is one request or question to a model."""
    return len(text) <= 2 * _LONE_CHARS and _is_lone_request(latin(as_seen(text)))


def _hidden_signs(text: str) -> list[tuple[float, str]]:
    checks = [(TERMINAL, "steers a terminal", _ESCAPE), (SECOND_HEADER, "brings a header of its own", _HEADERS)]
    if not text.isascii():
        checks += [
            (HIDDEN, "holds text that nobody sees (Unicode tags)", _TAGS),
            (DIRECTION, "turns the direction of its text", _BIDI),
            (DIRECTION, "has unseen marks inside words", _INSIDE_WORD),
            (LOOKALIKE, "writes words with look-alike letters of another script", _MIXED),
        ]
    return [(weight, reason) for weight, reason, pattern in checks if pattern.search(text)]


def _spoken_signs(text: str) -> list[tuple[float, str]]:
    """The signs in either reading of the text, each once."""
    read = readings(text)
    plain = [latin(one) for one in read]
    folded = [one.lower().translate(ACCENTS) for one in read]
    signs = [(s.weight, s.reason) for s in _SIGNS if any(s.pattern.search(one) for one in plain)]
    return signs + [(s.weight, s.reason) for s in FOREIGN if any(stand_together(s.parts, one) for one in folded)]


def _coded_signs(text: str) -> list[tuple[float, str]]:
    """The signs in what is encoded, each once."""
    found: dict[str, float] = {}
    for code, said, is_all in decoded(text):
        found |= {f"in {code}: {reason}": weight for weight, reason in _spoken_signs(said)}
        if is_all and said.count(" ") > 2:
            found["is nothing but encoded words"] = NOTHING_BUT_CODED
    return [(weight, reason) for reason, weight in found.items()]


def _is_lone_request(text: str) -> bool:
    line = text.strip().strip("\"'`*_# ")
    if len(line) > _LONE_CHARS or "\n" in line or "`" in line:
        return False
    return bool(
        _ASKS.match(line) or _QUESTION.fullmatch(line) or re.match(r"(?:is this|analy[sz]e)\b[^\n]*\?", line, _I)
    )
