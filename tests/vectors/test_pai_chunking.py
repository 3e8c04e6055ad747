import json

import pytest

from .adapters import pai__chunking as adapter
from .harness import DATA

CASES = json.loads((DATA / "pai" / "chunking.json").read_text(encoding="utf-8"))["cases"]
LONG_SENTENCE = {"content": "word " * 40, "options": {"maxTokens": 13, "overlap": 0}}
SHORT_SECTIONS = {"content": "# A\none two\n# B\nthree\n# C\nfour", "options": {"maxTokens": 20, "overlap": 8}}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_told_with_its_faults_the_rule_gives_what_the_peer_gave(case):
    assert adapter.told(case["input"], adapter.FAULTS) == case["expected"]


@pytest.mark.parametrize("case_input", [*(case["input"] for case in CASES), LONG_SENTENCE, SHORT_SECTIONS])
def test_without_faults_the_rule_gives_what_the_product_gives(case_input):
    assert adapter.right(case_input) == adapter.run(case_input)


def test_a_fault_concerns_only_cases_that_it_changes():
    concerned = {
        case["name"]: {fault for fault in adapter.FAULTS if adapter.changes(case["input"], fault)} for case in CASES
    }
    assert {name: faults for name, faults in concerned.items() if faults} == {
        "oversized_paragraph_sentences": {adapter.LINES_ARE_ESTIMATED},
        "small_limits": {adapter.LINES_ARE_ESTIMATED},
        "private_block_removed": {adapter.PRIVATE_MOVES_LINES},
        "code_fence_with_hash_lines": {adapter.FENCES_ARE_TORN},
    }
    assert adapter.keeps_a_long_sentence(LONG_SENTENCE)
    assert adapter.repeats_what_was_repeated(SHORT_SECTIONS)
