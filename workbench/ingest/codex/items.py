"""Items, what the model saw and gave, to drafts of events. Pure."""

from __future__ import annotations

import re
from typing import Any, Final

from workbench.ingest.objects import Fields, as_text, decode, picture

CALLS: Final = frozenset(
    (
        "function_call",
        "custom_tool_call",
        "local_shell_call",
        "web_search_call",
        "tool_search_call",
        "image_generation_call",
    )
)
OUTPUTS: Final = frozenset(("function_call_output", "custom_tool_call_output", "tool_search_output"))
NOTES: Final = frozenset(
    ("agent_message", "additional_tools", "ghost_snapshot", "compaction", "compaction_summary", "context_compaction")
)
"""Items that are neither said nor done: what another agent sent, marks of the harness."""

_TOOL_NAMES: Final = {
    "local_shell_call": "local_shell",
    "web_search_call": "web_search",
    "tool_search_call": "tool_search",
    "image_generation_call": "image_generation",
}
_EXIT_CODE: Final = re.compile(
    r"\A(?:[^\n]*\n){0,4}?(?:Exit code: |Process exited with code )(-?\d{1,10})[ \t]*(?:\n|\Z)"
)
_REJECTED: Final = re.compile(r"\A(?:(?:exec command|patch|MCP tool call) )?rejected by (?:the )?user", re.IGNORECASE)
_ABORTED: Final = re.compile(r"\Aaborted by user", re.IGNORECASE)


def content(item: Fields, *, named: bool = False) -> tuple[list[str], int]:
    """Texts and number of pictures of a content, which is a text or a list; pictures by name if wanted."""
    if isinstance(item.value.get("content"), str):
        return [item.value["content"]], 0
    return _parts(item.items("content"), named=named)


def _parts(parts: list[Any], *, named: bool) -> tuple[list[str], int]:
    texts: list[str] = []
    images = 0
    for part in parts:
        if isinstance(part, dict) and isinstance(part.get("text"), str):
            texts.append(part["text"])
        elif isinstance(part, dict) and part.get("type") in ("input_image", "image"):
            images += 1
            if named:
                texts.append(_picture(part.get("image_url")))
        elif not isinstance(part, dict) or part.get("type") != "encrypted_content":
            texts.append(as_text(part))
    return texts, images


def _picture(url: Any) -> str:
    """A picture by type and size; of one that lies elsewhere, where."""
    url = url if isinstance(url, str) else ""
    head, _, data = url.partition(",")
    if not url.startswith("data:"):
        return f"[picture, {url}]" if url else picture(None, 0)
    return picture(head.removeprefix("data:").partition(";")[0] or None, len(data))


def thoughts(item: Fields) -> list[str]:
    """What a reasoning item shows; most of it is encrypted and not kept."""
    parts = [*item.objects("summary"), *item.objects("content")]
    return [text for part in parts if (text := part.text("text"))]


def call(item: Fields, kind: str) -> dict[str, Any]:
    """A call of a tool, or of one that runs at the provider."""
    call_id = item.text("call_id") or item.text("id")
    if kind in ("function_call", "custom_tool_call"):
        name = "arguments" if kind == "function_call" else "input"
        payload = {
            "tool": item.text("name") or "",
            "args": _arguments(item.value.get(name), name),
            "tool_call_id": call_id,
        }
        if item.text("namespace"):
            payload["namespace"] = item.text("namespace")
        return payload
    if kind == "tool_search_call":
        args = _arguments(item.value.get("arguments"), "arguments")
    elif kind == "image_generation_call":
        args = {"prompt": item.text("revised_prompt")}
    else:
        args = item.inner("action").value
    return {"tool": _TOOL_NAMES[kind], "args": args, "tool_call_id": call_id}


def _arguments(found: Any, name: str) -> dict[str, Any]:
    """Arguments are JSON in a text; what is not stands as it is under the field's name."""
    if isinstance(found, str) and found.lstrip().startswith("{"):
        try:
            value = decode(found.encode("utf-8", "replace"))
        except ValueError:
            return {name: found}
        return value if isinstance(value, dict) else {name: found}
    if isinstance(found, dict):
        return found
    return {} if found in (None, "") else {name: found}


def drawn(item: Fields) -> dict[str, Any] | None:
    """The result of drawing a picture, which stands in the call itself."""
    data, call_id = item.text("result"), item.text("call_id") or item.text("id")
    if data is None or call_id is None:
        return None
    return {"tool_call_id": call_id, "result": picture(None, len(data)), "is_error": False, "images": 1}


def output(item: Fields) -> dict[str, Any]:
    """What a tool gave back. Whether it failed is seldom said apart: an exit code in the text, or an older envelope."""
    found = item.value.get("output", item.value.get("tools"))
    code: int | None = None
    failed = False
    images = 0
    if isinstance(found, dict):
        failed = found.get("success") is False
        found = found.get("content_items") or found.get("content")
    if isinstance(found, list):
        texts, images = _parts(found, named=True)
        text = "\n".join(texts)
    else:
        text, code = _unwrapped(as_text(found))
    told = _EXIT_CODE.match(text) if code is None else None
    code = int(told[1]) if told else code
    rejected = _REJECTED.match(text) is not None
    payload: dict[str, Any] = {
        "tool_call_id": item.text("call_id"),
        "result": text,
        "is_error": failed or rejected or bool(code) or _ABORTED.match(text) is not None,
    }
    if code is not None:
        payload["exit_code"] = code
    if images:
        payload["images"] = images
    if rejected:
        payload["rejected"] = True
    return payload


def _unwrapped(text: str) -> tuple[str, int | None]:
    """The text and exit code of an output in its older envelope, `{"output": "...", "metadata": {"exit_code": 0}}`."""
    if not (text.startswith("{") and '"metadata"' in text):
        return text, None
    try:
        found = decode(text.encode("utf-8", "replace"))
    except ValueError:
        return text, None
    if not isinstance(found, dict) or not isinstance(found.get("output"), str):
        return text, None
    metadata = found.get("metadata")
    code = metadata.get("exit_code") if isinstance(metadata, dict) else None
    return found["output"], code if isinstance(code, int) and not isinstance(code, bool) and abs(code) < 2**31 else None
