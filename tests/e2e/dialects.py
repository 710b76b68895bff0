"""The answers of four model interfaces, just enough of each for its client to end a turn.

Each function takes the text to answer, or a call of one of the client's tools, and gives the body
of an HTTP answer. The shapes are those of the vendors' public references: OpenAI Responses and Chat
Completions, Anthropic Messages, Gemini ``generateContent``.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

Json = dict[str, Any]


@dataclass(frozen=True)
class ToolCall:
    """A call that the model asks for: the tool's name and its arguments."""

    tool: str
    arguments: Json


Answer = str | ToolCall


def responses(answer: Answer, number: int) -> str:
    """OpenAI Responses, as server-sent events; ``number`` keeps the ids of one run apart."""
    item: Json
    if isinstance(answer, ToolCall):
        item = {"type": "function_call", "id": f"fc_{number}", "call_id": f"call_{number}", "status": "completed"}
        name, _, namespace = answer.tool.partition("@")
        item |= {"name": name, "arguments": json.dumps(answer.arguments)}
        item |= {"namespace": namespace} if namespace else {}
    else:
        content = [{"type": "output_text", "text": answer, "annotations": []}]
        item = {"type": "message", "id": f"msg_{number}", "role": "assistant", "status": "completed"}
        item |= {"content": content}
    response: Json = {"id": f"resp_{number}", "object": "response", "status": "in_progress", "output": []}
    usage: Json = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}
    usage |= {"input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0}}
    return _events(
        {"type": "response.created", "response": response},
        {"type": "response.output_item.added", "output_index": 0, "item": item},
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {
            "type": "response.completed",
            "response": response | {"status": "completed", "output": [item], "usage": usage},
        },
    )


def chat_completions(answer: Answer, number: int) -> str:
    """OpenAI Chat Completions, as a stream of chunks."""
    delta: Json = {"role": "assistant", "content": answer}
    reason = "stop"
    if isinstance(answer, ToolCall):
        function = {"name": answer.tool, "arguments": json.dumps(answer.arguments)}
        call = {"index": 0, "id": f"call_{number}", "type": "function", "function": function}
        delta, reason = {"role": "assistant", "content": None, "tool_calls": [call]}, "tool_calls"
    chunk = {"id": f"chatcmpl-{number}", "object": "chat.completion.chunk", "created": 0, "model": "stand-in"}
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    return (
        _events(
            chunk | {"choices": [{"index": 0, "delta": delta, "finish_reason": None}]},
            chunk | {"choices": [{"index": 0, "delta": {}, "finish_reason": reason}], "usage": usage},
        )
        + "data: [DONE]\n\n"
    )


def messages(answer: Answer, number: int) -> str:
    """Anthropic Messages, as server-sent events."""
    block: Json = {"type": "text", "text": ""}
    delta: Json = {"type": "text_delta", "text": answer}
    reason = "end_turn"
    if isinstance(answer, ToolCall):
        block = {"type": "tool_use", "id": f"call_{number}", "name": answer.tool, "input": {}}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(answer.arguments)}
        reason = "tool_use"
    usage = {"input_tokens": 1, "output_tokens": 1}
    message: Json = {"id": f"msg_{number}", "type": "message", "role": "assistant", "model": "stand-in", "content": []}
    message |= {"stop_reason": None, "stop_sequence": None, "usage": usage}
    return _events(
        {"type": "message_start", "message": message},
        {"type": "content_block_start", "index": 0, "content_block": block},
        {"type": "content_block_delta", "index": 0, "delta": delta},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": None}, "usage": usage},
        {"type": "message_stop"},
    )


def generate_content(answer: Answer, *, stream: bool) -> str:
    """Gemini ``generateContent``, or with ``stream`` its ``streamGenerateContent?alt=sse``."""
    part: Json = {"text": answer}
    if isinstance(answer, ToolCall):
        part = {"functionCall": {"name": answer.tool, "args": answer.arguments}}
    candidate = {"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}
    usage = {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}
    body = {"candidates": [candidate], "usageMetadata": usage, "modelVersion": "stand-in"}
    return _events(body) if stream else json.dumps(body)


def _events(*bodies: Json) -> str:
    """Server-sent events; one that has a ``type`` names it, as OpenAI and Anthropic do."""
    lines = ""
    for body in bodies:
        if isinstance(body.get("type"), str):
            lines += f"event: {body['type']}\n"
        lines += f"data: {json.dumps(body)}\n\n"
    return lines
