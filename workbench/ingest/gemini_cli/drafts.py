"""Messages of Gemini CLI to drafts of events. Pure."""

from __future__ import annotations

from typing import Any, Final

from workbench.ingest.objects import Fields, as_text, picture
from workbench.ingest.records import Draft, Record

_INTERRUPTS: Final = ("Request cancelled.", "User cancelled the request.")
_SNAPSHOT: Final = "<state_snapshot>"
_SETTING_UP: Final = ("This is the Gemini CLI. We are setting up the context", "<session_context>")
_FINISHED: Final = ("success", "error", "cancelled")
"""States of a call that has ended; in all others there is no result yet."""


def said(message: Fields) -> list[Draft]:
    """What a person typed; the text that went to the model may hold files that were named in it."""
    name = "displayContent" if message.value.get("displayContent") is not None else "content"
    text, images, results = parts(message.value.get(name), typed=True)
    if text.lstrip().startswith(_SNAPSHOT):
        return [Draft("compaction", "kernel", {"type": "summary", "summary": text})]
    if text.lstrip().startswith(_SETTING_UP):
        return [Draft("system_note", "kernel", {"type": "session_context", "text": text})]
    if results and not text:
        return []  # told with the calls of the response before
    return [Draft("user_message", "user", {"text": text, "images": images} if images else {"text": text})]


def response(message: Fields, message_id: str) -> list[Draft]:
    """A model call: what it thought, said and called for, and its usage."""
    about: dict[str, Any] = {"message_id": message_id, "model": message.text("model")}
    drafts = [
        Draft("agent_message", "agent", {"thinking": _thought(thought), **about})
        for thought in message.objects("thoughts")
    ]
    text, _, _ = parts(message.value.get("content"))
    calls = [Draft("tool_call", "agent", {**_call(call), **about}) for call in message.objects("toolCalls")]
    if text or not (drafts or calls):
        drafts.append(Draft("agent_message", "agent", {"text": text, **about}))
    return [*drafts, *calls, *_usage(message.inner("tokens"), about)]


def _thought(thought: Fields) -> str:
    return "\n".join(filter(None, (thought.text("subject"), thought.text("description"))))


def _call(call: Fields) -> dict[str, Any]:
    return {
        "tool": call.text("name") or "",
        "args": call.arguments("args"),
        "tool_call_id": call.text("id"),
    }


def result(call: Fields, message_id: str, line: int) -> Record | None:
    """What a call gave back, once it has ended; `rejected` where the person cancelled it."""
    status, call_id = call.text("status"), call.text("id")
    if status not in _FINISHED or call_id is None:
        return None
    text, images, _ = parts(call.value.get("result"))
    shown = call.value.get("resultDisplay")
    payload: dict[str, Any] = {
        "tool_call_id": call_id,
        "result": text or (shown if isinstance(shown, str) else ""),
        "is_error": status != "success",
        "tool": call.text("name"),
    }
    if images:
        payload["images"] = images
    if status == "cancelled":
        payload["rejected"] = True
    if call.value.get("agentId") is not None:
        payload["subagent_id"] = call.text("agentId")
    moment = call.moment("timestamp")
    draft = Draft("tool_result", "tool", payload)
    return Record(f"{message_id}/{call_id}", None, moment.at, moment.source, line, message_id, [draft])


def noted(kind: str, message: Fields) -> Draft:
    """What the program said to the person; among it that the person stopped the agent."""
    text, _, _ = parts(message.value.get("content"))
    if kind == "info" and text.strip() in _INTERRUPTS:
        return Draft("system_note", "user", {"type": "turn_interrupted", "text": text})
    return Draft("system_note", "kernel", {"type": kind, "text": text})


def parts(content: Any, *, typed: bool = False) -> tuple[str, int, int]:
    """Words, pictures and results of a content, which is a text, a part, or a list of both.

    Args:
        content: The content.
        typed: Whether only words are wanted; else pictures stand in the text by name, and results as they are.
    """
    texts: list[str] = []
    images = results = 0
    for part in content if isinstance(content, list) else [content]:
        if not isinstance(part, dict):
            texts.append(as_text(part))
        elif isinstance(part.get("text"), str):
            texts.append(part["text"])
        elif "inlineData" in part or "fileData" in part:
            named, is_picture = _file(part)
            images += is_picture
            texts.append("" if typed and is_picture else named)
        elif isinstance(part.get("functionResponse"), dict):
            results += 1
            response = {} if typed else part["functionResponse"]
            nested, more, _ = parts(response.get("parts"))
            texts += [_returned(response.get("response")), nested]
            images += more
        else:
            texts.append(as_text(part))
    return "\n".join(text for text in texts if text), images, results


def _returned(response: Any) -> str:
    """The text of a function's response: its output, else its error, else all of it."""
    if isinstance(response, dict):
        for name in ("output", "error", "content"):
            if isinstance(response.get(name), str):
                return str(response[name])
    return as_text(response)


def _file(part: dict[str, Any]) -> tuple[str, bool]:
    """A file by type and by size or place, and whether it is a picture."""
    found = part.get("inlineData") or part.get("fileData")
    found = found if isinstance(found, dict) else {}
    media_type, place = found.get("mimeType"), found.get("fileUri")
    media_type = media_type if isinstance(media_type, str) else None
    named = picture(media_type, len(str(found.get("data") or "")))
    if isinstance(place, str):
        named = f"[{media_type or 'file'}, {place}]"
    return named, media_type is None or media_type.startswith("image/")


def _usage(tokens: Fields, about: dict[str, Any]) -> list[Draft]:
    """Tokens of a call. total = input + output + thoughts + tool, and what was cached is a part of the input.

    Zeros alone say nothing: the message was made for calls that belong to the response before.
    """
    told = {name: tokens.count(name) for name in ("input", "output", "cached", "thoughts", "tool")}
    if not any(told.values()):
        return []
    cached, thoughts = told["cached"], told["thoughts"]
    payload = {
        "input_tokens": None if told["input"] is None else max(told["input"] - (cached or 0), 0) + (told["tool"] or 0),
        "output_tokens": None if told["output"] is None else told["output"] + (thoughts or 0),
        "cache_read_tokens": cached,
        "cache_write_tokens": None,
        "reasoning_tokens": thoughts,
    }
    return [Draft("usage", "kernel", {**payload, **about})]
