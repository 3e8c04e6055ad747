"""What a shell command is for.

Source: PRAANA src/context-engine/classification.ts, src/domain/coding-domain.ts.
"""

from __future__ import annotations

import re
from typing import Final

_TEST: Final = re.compile(
    r"\b(?:npm test|pnpm test|yarn test|vitest|pytest|cargo test|go test)\b", re.IGNORECASE | re.ASCII
)
_SEARCH: Final = re.compile(r"\b(?:rg|grep|ag|ack)\b", re.ASCII)
_FAILURE_WORDS: Final = re.compile(r"error|fail|exception|crash|stack", re.IGNORECASE)


def is_test_command(command: str) -> bool:
    """Whether a command runs tests.

    Source: PRAANA src/context-engine/classification.ts, `isTestCommand`.
    """
    return _TEST.search(command) is not None


def searches_for_failures(command: str) -> bool:
    """Whether a command searches files for words of failure.

    Source: PRAANA src/domain/coding-domain.ts.
    """
    return _SEARCH.search(command) is not None and _FAILURE_WORDS.search(command) is not None
