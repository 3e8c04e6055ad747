"""Cutting by sections against the peer's parts; where the peer is wrong, against a second telling of the rule.

`told` knows the peer's faults by name. Told with all of them it gives what was recorded, which a test of this adapter
holds to; a rule names the cases that one fault changes, and the right value is what is told without any.
"""

from __future__ import annotations

import hashlib
import math
import re
from itertools import pairwise

from workbench.text.chunking import chunk_text
from workbench.text.private import hide_private
from workbench.text.section_chunks import MAX_TOKENS, OVERLAP_TOKENS, chunk_sections

PRIVATE = re.compile(r"<private>.*?</private>", re.IGNORECASE | re.DOTALL)
GAP = re.compile(r"(?<=[.!?])\s+(?=[A-Z\"'])")

PRIVATE_MOVES_LINES = "private text is taken out with its lines, so that all lines below are told wrong"
FENCES_ARE_TORN = "a fence of code is cut at a comment or a blank line"
REPEATS_WHAT_WAS_REPEATED = "the overlap is taken from a part with its own overlap"
LINES_ARE_ESTIMATED = "the lines of sentences are guessed, some behind the end of the paragraph"
SENTENCES_ARE_NOT_CUT = "a sentence is longer than a part may be"
FAULTS = frozenset(
    {
        PRIVATE_MOVES_LINES,
        FENCES_ARE_TORN,
        REPEATS_WHAT_WAS_REPEATED,
        LINES_ARE_ESTIMATED,
        SENTENCES_ARE_NOT_CUT,
    }
)


def run(case_input):
    most, overlap = limits(case_input)
    chunks = chunk_sections(hide_private(case_input["content"]), tokens, most, overlap)
    return [as_recorded(chunk.text, chunk.first_line, chunk.last_line) for chunk in chunks]


def limits(case_input):
    options = case_input["options"]
    return options.get("maxTokens", MAX_TOKENS), options.get("overlap", OVERLAP_TOKENS)


def tokens(text):
    return math.ceil(round(len(text.split()) * 1.3, 9))


def as_recorded(text, first, last):
    digest = hashlib.sha256(text.encode()).hexdigest()
    return {"text": text, "startLine": first, "endLine": last, "hash": digest}


def right(case_input):
    return told(case_input, faults=frozenset())


def takes_private_text_out(case_input):
    return changes(case_input, PRIVATE_MOVES_LINES)


def tears_a_fence(case_input):
    return changes(case_input, FENCES_ARE_TORN)


def repeats_what_was_repeated(case_input):
    return changes(case_input, REPEATS_WHAT_WAS_REPEATED)


def estimates_lines(case_input):
    return changes(case_input, LINES_ARE_ESTIMATED)


def keeps_a_long_sentence(case_input):
    return changes(case_input, SENTENCES_ARE_NOT_CUT)


def changes(case_input, fault):
    return told(case_input, frozenset({fault})) != right(case_input)


def told(case_input, faults):
    content = case_input["content"]
    most, overlap = limits(case_input)
    content = PRIVATE.sub("", content) if PRIVATE_MOVES_LINES in faults else hide_private(content)
    parts, before = [], ""
    for text, first, last in told_blocks(content.split("\n"), most, faults):
        lines = before.split("\n") if before and overlap else []
        begin = len(lines)
        while begin and tokens(" ".join(lines[begin:])) < overlap:
            begin -= 1
        repeated = lines[begin:]
        part = "\n".join([*repeated, text])
        before = part if REPEATS_WHAT_WAS_REPEATED in faults else text
        parts.append(as_recorded(part, first, last))
    return parts


def told_blocks(lines, most, faults):
    code = set() if FENCES_ARE_TORN in faults else in_fences(lines)
    heads = [number for number, line in enumerate(lines) if number not in code and re.match(r"#{1,3}\s", line)]
    blocks = []
    for first, end in pairwise(sorted({0, *heads, len(lines)})):
        if tokens(" ".join(lines[first:end])) <= most:
            blocks.append(("\n".join(lines[first:end]), first + 1, end))
            continue
        paragraph = []
        for number in range(first, end + 1):
            is_end = number == end or (number not in code and not lines[number].strip())
            if is_end and paragraph:
                blocks += told_paragraph(lines, paragraph, most, faults)
                paragraph = []
            elif number < end:
                paragraph.append(number)
    return [(text.strip(), first, last) for text, first, last in blocks if text.strip()]


def told_paragraph(lines, numbers, most, faults):
    first = numbers[0]
    own = lines[first : numbers[-1] + 1]
    if tokens(" ".join(own)) <= most:
        return [("\n".join(own), first + 1, first + len(own))]
    sentences = GAP.split(" ".join(own))
    if SENTENCES_ARE_NOT_CUT not in faults:
        sentences = [part.text.strip() for sentence in sentences for part in chunk_text(sentence, tokens, most)]
    packed = []
    for sentence in sentences:
        if packed and tokens(f"{packed[-1]} {sentence}") <= most:
            packed[-1] += f" {sentence}"
        else:
            packed.append(sentence)
    if LINES_ARE_ESTIMATED in faults:
        return [(text, first + 1 + place, first + 1 + place) for place, text in enumerate(packed)]
    line_of = [first + 1 + number for number, line in enumerate(own) for _ in line.split()]
    ends = [0]
    for text in packed:
        ends.append(ends[-1] + len(text.split()))
    return [(text, line_of[begin], line_of[end - 1]) for text, (begin, end) in zip(packed, pairwise(ends), strict=True)]


def in_fences(lines):
    code, mark = set(), ""
    for number, line in enumerate(lines):
        found = re.match(r" {0,3}(```+|~~~+)", line)
        if mark:
            code.add(number)
            if found and found[1].startswith(mark) and line.strip() == found[1]:
                mark = ""
        elif found:
            code.add(number)
            mark = found[1]
    return code
