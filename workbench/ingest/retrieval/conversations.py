"""Judged sets out of two public benchmarks of long memory, from the files that their authors publish.

LoCoMo (Maharana et al. 2024, `locomo10.json`): conversations of many sessions; the evidence of a question is a list of
turns. A document is a turn. LongMemEval (Wu et al. 2024, `longmemeval_s.json` and its siblings): each question has a
haystack of chats, some of which hold the answer. A document is a chat. In both a question is searched in its own
conversation or haystack alone. Questions that must not be answered (category 5, ids that end in `_abs`) have no right
document and are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from workbench.errors import BadInputError
from workbench.ingest.retrieval.judged import JudgedSet, judged_set

UNANSWERABLE_CATEGORY: Final = 5
"""LoCoMo's adversarial questions; source: its README."""

UNANSWERABLE_ID: Final = "_abs"
"""Source: LongMemEval's README."""

_SESSION: Final = re.compile(r"session_\d+")
_EVIDENCE: Final = re.compile(r"D\d+:\d+")


def is_locomo(content: Any) -> bool:
    """Whether parsed JSON looks like LoCoMo's file."""
    return _is_list_with(content, {"conversation", "qa"})


def is_longmemeval(content: Any) -> bool:
    """Whether parsed JSON looks like one of LongMemEval's files."""
    return _is_list_with(content, {"haystack_sessions", "haystack_session_ids", "answer_session_ids"})


def read_locomo(content: Any, name: str) -> JudgedSet:
    """Read LoCoMo.

    Args:
        content: The parsed file.
        name: Names the report.

    Raises:
        BadInputError: No usable question is in it.
    """
    queries: list[tuple[str, str]] = []
    documents: list[tuple[str, str]] = []
    judgements: list[tuple[str, str, float]] = []
    pools: list[tuple[str, str]] = []
    bad: list[str] = []
    unanswerable = 0
    for place, sample in enumerate(content):
        label = str(sample.get("sample_id", place)) if isinstance(sample, dict) else str(place)
        try:
            turns = [(f"{label}/{turn_id}", text) for turn_id, text in _locomo_turns(sample["conversation"])]
            questions = [
                (f"{label}/q{number}", str(asked["question"]), asked) for number, asked in enumerate(sample["qa"])
            ]
        except (KeyError, TypeError, AttributeError) as error:
            bad.append(f"conversation {label} has not LoCoMo's shape ({_shape(error)})")
            continue
        documents += turns
        for query_id, text, asked in questions:
            if asked.get("category") == UNANSWERABLE_CATEGORY:
                unanswerable += 1
                continue
            queries.append((query_id, text))
            # some lists hold several ids in one text: "D8:6; D9:17"
            evidence = _EVIDENCE.findall(" ".join(map(str, asked.get("evidence") or ())))
            judgements += [(query_id, f"{label}/{turn_id}", 1.0) for turn_id in evidence]
            pools += [(query_id, turn_id) for turn_id, _ in turns]
    left_out = [*bad, *_unanswerable(unanswerable)]
    return judged_set(name, queries, documents, judgements, pools, left_out)


def read_longmemeval(content: Any, name: str) -> JudgedSet:
    """Read LongMemEval.

    Args:
        content: The parsed file.
        name: Names the report.

    Raises:
        BadInputError: No usable question is in it.
    """
    queries: list[tuple[str, str]] = []
    documents: dict[str, str] = {}
    judgements: list[tuple[str, str, float]] = []
    pools: list[tuple[str, str]] = []
    bad: list[str] = []
    unanswerable = 0
    for place, entry in enumerate(content):
        label = str(entry.get("question_id", place)) if isinstance(entry, dict) else str(place)
        if label.endswith(UNANSWERABLE_ID):
            unanswerable += 1
            continue
        try:
            chats = dict(zip(entry["haystack_session_ids"], entry["haystack_sessions"], strict=True))
            chats = {str(session_id): _chat_text(chat) for session_id, chat in chats.items()}
            question, answers = str(entry["question"]), [str(answer) for answer in entry["answer_session_ids"]]
        except (KeyError, TypeError, AttributeError, ValueError) as error:
            bad.append(f"question {label} has not LongMemEval's shape ({_shape(error)})")
            continue
        queries.append((label, question))
        for session_id, text in chats.items():
            documents.setdefault(session_id, text)
        judgements += [(label, session_id, 1.0) for session_id in answers]
        pools += [(label, session_id) for session_id in chats]
    left_out = [*bad, *_unanswerable(unanswerable)]
    return judged_set(name, queries, documents.items(), judgements, pools, left_out)


def refuse(name: str) -> BadInputError:
    """What is said of JSON of another shape."""
    return BadInputError(
        f"{name} has neither LoCoMo's shape (a list of objects with conversation and qa) nor LongMemEval's (with "
        "haystack_sessions, haystack_session_ids and answer_session_ids); take the files as their authors publish them"
    )


def _is_list_with(content: Any, keys: set[str]) -> bool:
    return isinstance(content, list) and any(isinstance(entry, dict) and keys <= entry.keys() for entry in content)


def _locomo_turns(conversation: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Id and text of each turn: its day and speaker, what was said, what a picture showed."""
    for key, turns in conversation.items():
        if _SESSION.fullmatch(key):
            day = str(conversation.get(f"{key}_date_time", ""))
            for turn in turns:
                picture = f" [picture: {turn['blip_caption']}]" if turn.get("blip_caption") else ""
                yield str(turn["dia_id"]), f"{day}\n{turn['speaker']}: {turn['text']}{picture}".strip()


def _chat_text(chat: list[dict[str, Any]]) -> str:
    return "\n\n".join(f"{turn['role']}: {turn['content']}" for turn in chat)


def _shape(error: Exception) -> str:
    return f"it lacks {error.args[0]}" if isinstance(error, KeyError) else str(error)


def _unanswerable(count: int) -> list[str]:
    return [f"{count} questions are meant to have no answer"] if count else []
