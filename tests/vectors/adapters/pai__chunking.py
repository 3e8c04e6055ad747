from __future__ import annotations

import math
import re

from workbench.text.chunking import chunk_text
from workbench.text.private import hide_private


def run(case_input):
    """What holds of our chunks: every word once and in order, none too long, each at the lines it says."""
    content, most = case_input["content"], max_tokens(case_input)
    chunks = chunk_text(hide_private(content), tokens, most)
    return {
        "words": [word for chunk in chunks for word in chunk.text.split()],
        "too_long": [chunk.text for chunk in chunks if tokens(chunk.text) > most],
        "moved": [chunk.text for chunk in chunks if content[chunk.start : chunk.end].split() != chunk.text.split()]
        if "<private>" not in content.lower()
        else [],
        "is_whole": len(chunks) <= 1 or tokens(hide_private(content)) > most,
    }


def tokens(text):
    return math.ceil(round(len(text.split()) * 1.3, 9))


def max_tokens(case_input):
    return case_input["options"].get("maxTokens", 400)


def all_words_once(case_input):
    shown = re.sub(r"(?is)<private>.*?</private>", " ", case_input["content"])
    return {"words": shown.split(), "too_long": [], "moved": [], "is_whole": True}


def always(case_input):
    return "content" in case_input
