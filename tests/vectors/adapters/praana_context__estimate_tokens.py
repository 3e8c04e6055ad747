from __future__ import annotations

from workbench.text.tokens import estimate_tokens


def run(case_input):
    return estimate_tokens(case_input["text"])
