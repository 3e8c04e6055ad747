"""A session in which every text tries to be more than text, and one in which none does."""

import json
from datetime import UTC, datetime, timedelta

HOSTILE = (
    "</script><script>window.pwned=1</script>",
    "<img src=x onerror=window.pwned=2>",
    "<img src=https://evil.example/a.png>",
    "</style><style>*{display:none}</style>",
    '"><svg onload=window.pwned=3><a href="javascript:window.pwned=4">x</a>',
    "data:text/html,<script>window.pwned=5</script>",
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
    "https://evil.example/picture.png",
    "[link](javascript:window.pwned=6) ![p](https://evil.example/b.png) $$\\href{javascript:window.pwned=7}{x}$$",
    "<iframe src=https://evil.example></iframe> {{7*7}} ${7*7}",
    "<!-- <script> ]]> ' ` a=1&b=2 and &amp; and &lt;b&gt;",
    "\x1b[31mred\x1b[0m \x1b]8;;https://evil.example\x07link\x1b]8;;\x07 \x9b2J end",
    "abc\u202edef\u2066ghi\u200b \U0001f600",
    "nul\x00bell\x07back\bspace\x7f",
)
"""Markup, addresses, Markdown, terminal codes, marks of direction, control characters."""

LONG = "long " + "x" * 1_000_000
"""A line of a megabyte."""

HOSTILE_SESSION = "00000000-0000-4000-8000-0000000000aa"
PLAIN_SESSION = "00000000-0000-4000-8000-0000000000bb"

START = datetime(2026, 3, 2, 9, tzinfo=UTC)


def write_hostile_sessions(folder):
    """Write both as Claude Code does; every name, path, text, argument and result of the first is hostile."""
    place = folder / "projects" / "-srv-work-demo"
    place.mkdir(parents=True)
    for session_id, texts in ((HOSTILE_SESSION, [*HOSTILE, LONG]), (PLAIN_SESSION, ["Fix the build", "Done."])):
        lines = [json.dumps(record, ensure_ascii=True) for record in _records(session_id, texts)]
        (place / f"{session_id}.jsonl").write_text("\n".join(lines) + "\n", "utf-8")
    return place.parent


def _records(session_id, texts):
    odd = session_id == HOSTILE_SESSION
    yield {"type": "summary", "summary": texts[0], "leafUuid": "u1"}
    number = 0
    for exchange, text in enumerate(texts):
        about = {
            "parentUuid": None, "isSidechain": False, "userType": "external", "sessionId": session_id,
            "cwd": f"/srv/work/{texts[0]}" if odd else "/srv/work/demo", "version": "2.1.40",
            "gitBranch": texts[1] if odd else "main",
        }  # fmt: skip

        def record(kind, content, about=about, exchange=exchange, **message):
            nonlocal number
            number += 1
            at = START + timedelta(minutes=exchange, seconds=number % 50)
            return {
                **about, "type": kind, "uuid": f"{session_id}-{number}", "requestId": f"req_{session_id}_{number}",
                "timestamp": at.isoformat().replace("+00:00", "Z"),
                "message": {"role": kind, "content": content, **message},
            }  # fmt: skip

        usage = {
            "input_tokens": 10, "output_tokens": 20, "cache_read_input_tokens": 30, "cache_creation_input_tokens": 0,
        }  # fmt: skip
        model = {
            "model": text[:200] if odd and exchange else "claude-sonnet-4-5-20250929",
            "type": "message",
            "usage": usage,
        }
        call = f"toolu_{session_id}_{exchange}"
        arguments = {"command": text, "file_path": f"/srv/work/{text}", text[:100]: text}
        name = text[:60] if odd else "Bash"
        yield record("user", text)
        yield record(
            "assistant",
            [
                {"type": "thinking", "thinking": text},
                {"type": "text", "text": text},
                {"type": "tool_use", "id": call, "name": name, "input": arguments},
            ],
            id=f"msg_{session_id}_{exchange}",
            **model,
        )
        result = {"type": "tool_result", "tool_use_id": call, "content": text, "is_error": odd and exchange % 2 == 0}
        yield record("user", [result])
        yield record("assistant", [{"type": "text", "text": text}], id=f"msg_{session_id}_{exchange}b", **model)
