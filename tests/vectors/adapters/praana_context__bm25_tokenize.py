from __future__ import annotations

from workbench.text.bm25 import tokenize, tokenize_short


def run(case_input):
    text = case_input["text"]
    return {"tokens": tokenize(text), "short": tokenize_short(text)}
