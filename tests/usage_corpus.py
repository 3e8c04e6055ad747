"""Sessions whose usage is known: what agents do to their files that makes tokens count twice, too low or not at all.

| session | what is odd about it |
| --- | --- |
| ALPHA | a call on two lines that grow, an untimed one, one above a price tier, a sub-agent nested and in a file |
| BETA | ALPHA resumed under a new id: its first lines are copies, then a call of its own |
| GAMMA | a gateway that writes no request ids, a model without a price, late in the evening |
| DELTA | the same gateway: it calls another response by the same constant id |
| EPSILON | a copy of GAMMA's file under a new session id |
| CODEX | another format: running totals, cached input and reasoning as parts of their wholes |

Dollars for a million tokens: the Sonnet 3 in, 15 out, 0.3 read, 3.75 written, 6 for an hour, above 200,000 tokens of
input 6, 22.5, 0.6, 7.5, 12; the Codex model 1.25 in, 10 out, 0.125 read.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from transcripts import CWD, MODEL, call, jsonl, nested, prompt, response, sidechain, text, thinking, tokens

ALPHA = "00000000-0000-4000-8000-0000000000a1"
BETA = "00000000-0000-4000-8000-0000000000b2"
GAMMA = "00000000-0000-4000-8000-0000000000c3"
DELTA = "00000000-0000-4000-8000-0000000000d4"
EPSILON = "00000000-0000-4000-8000-0000000000e5"
CODEX = "00000000-0000-4000-8000-0000000000f6"

OTHER_CWD = "/srv/work/other"
GATEWAY_MODEL = "other-model-1"
CODEX_MODEL = "gpt-5-codex"

EVENING, NEXT_DAY, DAY_AFTER = 14.5 * 3600, 25 * 3600, 47 * 3600
"""Seconds after 2026-03-02 09:00 UTC."""

COUNTERS = (
    "model_calls",
    "input_tokens",
    "output_tokens",
    "cache_read_tokens",
    "cache_write_tokens",
    "cost_usd",
    "unpriced_calls",
)

# cost by call, in millionths: the growing one 24,459, nested 330, in the file 156, untimed 1,503, above the tier
# 150,285, BETA's own 8,490, Codex 1,575 and 1,212.5
TOTAL = (11, 1646, 775, 297_900, 2300, 0.1880105, 3)
BY_MODEL = {
    MODEL: (6, 36, 539, 296_000, 2300, 0.185223, 0),
    CODEX_MODEL: (2, 600, 180, 1900, None, 0.0027875, 0),
    GATEWAY_MODEL: (3, 1010, 56, 0, 0, None, 3),
}
BY_PROJECT = {
    CWD: (8, 636, 719, 297_900, 2300, 0.1880105, 0),
    OTHER_CWD: (3, 1010, 56, 0, 0, None, 3),
}
BY_SESSION = {
    ALPHA: (5, 31, 479, 272_000, 2200, 0.176733, 0),
    BETA: (3, 9, 500, 46_000, 2300, 0.034452, 0),
    CODEX: (2, 600, 180, 1900, None, 0.0027875, 0),
    GAMMA: (2, 950, 50, 0, 0, None, 2),
    EPSILON: (2, 950, 50, 0, 0, None, 2),
    DELTA: (1, 60, 6, 0, 0, None, 1),
}
BY_DAY = {
    "UTC": {
        "2026-03-02": (8, 1580, 609, 273_900, 2200, 0.1780175, 2),
        "2026-03-03": (1, 5, 60, 24_000, 100, 0.00849, 0),
        "2026-03-04": (1, 60, 6, 0, 0, None, 1),
        "unknown": (1, 1, 100, 0, 0, 0.001503, 0),
    },
    "Europe/Berlin": {
        "2026-03-02": (6, 630, 559, 273_900, 2200, 0.1780175, 0),
        "2026-03-03": (3, 955, 110, 24_000, 100, 0.00849, 2),
        "2026-03-04": (1, 60, 6, 0, 0, None, 1),
        "unknown": (1, 1, 100, 0, 0, 0.001503, 0),
    },
}
SHARED_CALLS = 4
HOUR_TOKENS, REASONING_TOKENS = 2000, 60


def write_corpus(folder: Path) -> list[Path]:
    """Write the files; returns their paths, in the order of the table above."""
    demo, other = folder / "projects/-srv-work-demo", folder / "projects/-srv-work-other"
    contents = {
        demo / f"{ALPHA}.jsonl": jsonl(*_alpha()),
        demo / ALPHA / "subagents/agent-a1.jsonl": jsonl(*map(sidechain, _subagent())),
        demo / f"{BETA}.jsonl": jsonl(*_beta()),
        other / f"{GAMMA}.jsonl": jsonl(*_gamma(GAMMA)),
        other / f"{DELTA}.jsonl": jsonl(*_delta()),
        other / f"{EPSILON}.jsonl": jsonl(*_gamma(EPSILON)),
        folder / f"sessions/2026/03/02/rollout-2026-03-02T09-00-00-{CODEX}.jsonl": jsonl(*_codex()),
    }
    for path, content in contents.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return list(contents)


def _begin(session: str) -> list[Any]:
    """The lines that a resumed session copies."""
    growing = [tokens(output, 3, read=22_000, written=2200) for output in (2, 340)]
    growing[1]["cache_creation"] = {"ephemeral_5m_input_tokens": 200, "ephemeral_1h_input_tokens": 2000}
    return [
        prompt("u1", "Go.", session=session),
        response("u2", "msg_a1", thinking("hm"), usage=growing[0], session=session, seconds=1),
        response("u3", "msg_a1", call("toolu_a1"), usage=growing[1], session=session, seconds=3),
        response("u4", "msg_a2", text("When?"), usage=tokens(100, 1), session=session, seconds=None),
    ]


def _subagent() -> list[Any]:
    return [
        response("n1", "msg_n1", text("Found."), usage=tokens(20, 10), session=ALPHA, seconds=4),
        response("n2", "msg_n2", text("More."), usage=tokens(9, 7), session=ALPHA, seconds=5),
    ]


def _alpha() -> list[Any]:
    long = response("u6", "msg_a3", text("Long."), usage=tokens(10, 10, read=250_000), session=ALPHA, seconds=600)
    return [*_begin(ALPHA), nested("p1", _subagent()[0], session=ALPHA, seconds=4), long]


def _beta() -> list[Any]:
    own = response(
        "w1", "msg_b1", text("Done."), usage=tokens(60, 5, read=24_000, written=100), session=BETA, seconds=NEXT_DAY
    )
    return [*_begin(BETA), own]


def _gateway(uuid: str, message_id: str, usage: Any, session: str, seconds: float) -> Any:
    told = response(uuid, message_id, text(uuid), usage=usage, session=session, seconds=seconds, cwd=OTHER_CWD)
    told["message"]["model"] = GATEWAY_MODEL
    return told | {"requestId": None}


def _gamma(session: str) -> list[Any]:
    return [
        prompt("g1", "Late.", session=session, seconds=EVENING, cwd=OTHER_CWD),
        _gateway("g2", "chatcmpl-1", tokens(1, 900), session, EVENING + 1),
        _gateway("g3", "chatcmpl-1", tokens(45, 900), session, EVENING + 2),
        _gateway("g4", "relay", tokens(5, 50), session, EVENING + 3),
    ]


def _delta() -> list[Any]:
    return [
        prompt("d1", "Again.", session=DELTA, seconds=DAY_AFTER, cwd=OTHER_CWD),
        _gateway("d2", "relay", tokens(6, 60), DELTA, DAY_AFTER + 1),
    ]


def _codex() -> list[Any]:
    def counted(second: int, total: tuple[int, ...], last: tuple[int, ...]) -> Any:
        names = ("input_tokens", "cached_input_tokens", "output_tokens", "reasoning_output_tokens", "total_tokens")
        told = {"total_token_usage": total, "last_token_usage": last}
        info = {name: dict(zip(names, figures, strict=True)) for name, figures in told.items()}
        return record(second, "event_msg", type="token_count", info=info)

    def record(second: int, kind: str, **payload: Any) -> Any:
        return {"timestamp": f"2026-03-02T09:00:{second:02}.000Z", "type": kind, "payload": payload}

    first = (1000, 600, 100, 40, 1100)
    return [
        record(0, "session_meta", id=CODEX, timestamp="2026-03-02T09:00:00.000Z", cwd=CWD, cli_version="0.120.0"),
        record(1, "turn_context", cwd=CWD, model=CODEX_MODEL),
        record(1, "event_msg", type="user_message", message="Go."),
        counted(3, first, first),
        counted(4, first, first),
        counted(9, (2500, 1900, 180, 60, 2680), (1500, 1300, 80, 20, 1580)),
        record(9, "event_msg", type="agent_message", message="Done."),
    ]
