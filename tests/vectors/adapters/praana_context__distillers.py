"""Tool output made short, lite and full."""

from __future__ import annotations

import itertools
import re

from vectors.harness import assert_equal
from workbench.config.context import Distiller
from workbench.context.distillers import distil
from workbench.text.tokens import estimate_tokens

SETTINGS = Distiller()


def run(case_input):
    return {how: distilled(case_input["text"], case_input["contentType"], how) for how in ("lite", "full")}


def distilled(text, content_type, how):
    made = distil(text, content_type, SETTINGS, intensity=how)
    return {
        "distiller": made.distiller,
        "output": made.text,
        "inputTokens": made.input_tokens,
        "outputTokens": made.output_tokens,
    }


def compare(actual, expected):
    """The whole answer; or, of an output that follows no format, what it keeps and what is not in it."""
    assert actual.keys() == expected.keys()
    for how, right in expected.items():
        if "keeps" not in right:
            assert_equal(actual[how], right, how)
            continue
        made = actual[how]
        assert (made["distiller"], made["inputTokens"]) == (right["distiller"], right["inputTokens"])
        missing = [text for text in right["keeps"] if text not in made["output"]]
        assert not missing, f"{how}: lacks {missing!a}: {made['output']!a}"
        assert not [text for text in right["lacks"] if text in made["output"]]
        assert made["outputTokens"] == estimate_tokens(made["output"])
        assert made["outputTokens"] <= right["inputTokens"] + HEADER_TOKENS


# -- where the right answer differs: what the text itself says must be kept ------------------------------------------

HEADER_TOKENS = 60
LONG = 400
"""A line that is longer may be cut in its middle."""
NAMES = {"test_output": "npm-test", "build_output": "tsc-errors", "diff": "git-diff", "search_results": "rg-search"}
CONTROL = re.compile("\x1b\\[[0-9;]*[A-Za-z]")
STRICT = re.compile(
    r"^=+ (test session starts|FAILURES|ERRORS|short test summary info|\d+ (passed|failed|errors?)\b.*) =+$"
    r"|^\d+ (passed|failed|errors?|skipped)\b.* in [\d.]+s|^_{3,} ERROR (at|collecting) |^ *--- (FAIL"
    r"|PASS|SKIP): \S+ \("
    r"|^(ok  |FAIL|\?   )\t\S|^=== (RUN|NAME|CONT|PAUSE) +\S|^test result: (ok|FAILED)\.|^running \d+ tests?$"
    r"|^test \S.* \.\.\. (ok|FAILED|ignored)|^ +(Summary|PASS|FAIL|TIMEOUT) \[ *[\d.]+s\]|^---- \S.* stdout ----$",
    re.MULTILINE,
)


def plain(text):
    return CONTROL.sub("", text).replace("\r\n", "\n")


def contract(case_input, keeps, lacks=()):
    right = {
        "distiller": NAMES[case_input["contentType"]],
        "inputTokens": estimate_tokens(case_input["text"]),
        "keeps": keeps,
        "lacks": ["\x1b[", *lacks],
    }
    return {"lite": right, "full": right}


def is_of_another_runner(case_input):
    return case_input["contentType"] == "test_output" and bool(STRICT.search(plain(case_input["text"])))


def failures_of_other_runners(case_input):
    """Names of tests and packages that failed, and the lines that say why, found line by line."""
    keeps, lines = [], plain(case_input["text"]).split("\n")
    for line in lines:
        if found := re.match(r"(?:FAILED|ERROR) (\S+::\S+|\S+\.py)(?: - |$)", line):
            keeps.append(found[1])
        elif found := re.match(r"E   ?(\s*\w*(?:Error|Exception)\b.*)", line):
            keeps.append(found[1].strip()[:80])
        elif found := re.match(r"\S+\.py:\d+: \w*(?:Error|Exception)$", line):
            keeps.append(found[0])
        elif (
            (found := re.match(r"FAIL\t(\S+)", line))
            or (found := re.match(r"test (\S.*?) \.\.\. FAILED$", line))
            or (found := re.match(r"thread '.*' panicked at (\S+:\d+:\d+)", line))
        ):
            keeps.append(found[1])
        elif re.match(r"(=* ?\d+ (passed|failed|errors?)\b.* in [\d.]+s)", line):
            keeps.append(line.strip())
    chain = [found[1] for line in lines if (found := re.match(r"\s*--- FAIL: (\S+)", line))]
    keeps += [name for name in chain if not any(other.startswith(name + "/") for other in chain)]
    return contract(case_input, keeps)


def has_no_verdict(case_input):
    """A text in which nothing starts a failure and nothing is a total: of it, the original keeps the"
    " number of lines."""
    text = plain(case_input["text"])
    known = (
        r"\bFAIL\b|^\s*(✕|\u00d7)\s|^\s*(AssertionError\b|(Type|Reference)?Error:)"
        r"|^\s*((Test Files|Tests|Test Suites|Snapshots|Time):|\d+\s+(passed|failed)\b)"
    )
    is_test = case_input["contentType"] == "test_output" and text.strip() != ""
    return is_test and not STRICT.search(text) and not re.search(known, text, re.MULTILINE | re.IGNORECASE)


def its_ends(case_input):
    """The number of lines, and of the text what stands at its ends; lines that tell of a failure"
    " wherever they are."""
    text = plain(case_input["text"])
    alarms = [line for line in text.split("\n") if re.search(r"\b(failed|exception|panic|fatal)\b", line)]
    alarms = [line.strip()[:80] for line in alarms if not re.search(r"\b(0|no) (failed|failures|errors)\b", line)]
    first = text.strip().split("\n")[0].strip()[:40]
    return contract(case_input, [f"Test output: {len(text.split(chr(10)))} lines", *(alarms or [first])])


def is_cut_by_the_cap(case_input):
    """More lines after the first failure than the original keeps, or an exit code that it does not know."""
    text = plain(case_input["text"])
    named = re.findall(r"^\s*(?:FAIL|✕|\u00d7|●)\s+\S", text, re.MULTILINE)
    is_long = text.count("\n") > 80 and len(named) > 1
    told = re.search(r"^(exit code|Exit code|Command exited with code) -?[1-9]", text, re.MULTILINE)
    return case_input["contentType"] == "test_output" and not STRICT.search(text) and bool(is_long or told)


def every_failure(case_input):
    text = plain(case_input["text"])
    named = re.findall(r"^\s*(?:FAIL|✕|\u00d7|●)\s+(\S.*?)\s*(?:\(\d+ m?s\)|\d+ms)?$", text, re.MULTILINE)
    exits = re.findall(r"^(?:exit code|Exit code|Command exited with code) -?[1-9]\d*", text, re.MULTILINE)
    totals = re.findall(r"^(?:Tests|Test Suites): .*failed.*$", text, re.MULTILINE)
    return contract(case_input, [*named, *exits, *totals])


def has_forms_that_the_original_does_not_read(case_input):
    """Other compilers, causes under an error, lines of failure of another form, repeats, more kinds than its cap."""
    if case_input["contentType"] != "build_output":
        return False
    text = plain(case_input["text"])
    lines = text.split("\n")
    tsc = [line for line in lines if re.match(r".+?\(\d+,\d+\):\s+error\s+TS\d+:", line)]
    bare = [line.strip() for line in lines if re.match(r"\s*error\b", line, re.IGNORECASE)]
    other = [
        line
        for line in lines
        if line not in tsc
        and line.strip() not in bare
        and not re.match(r"Found \d+ error", line)
        and re.search(
            r"\b(warning|error|failed|failure|fatal|panic|exception|undefined)\b|Error\b|━━━|\.go:\d+:\d+: ",
            line,
            re.IGNORECASE,
        )
    ]
    after = [
        line for one, line in itertools.pairwise(lines) if one in tsc + bare and line[:1].isspace() and line.strip()
    ]
    kinds = {line.partition(": error ")[2] for line in tsc}
    long = any(len(line) > LONG for line in lines)
    arrows = re.search(r"^error.*\n\s+--> ", text, re.MULTILINE)
    total = any(re.match(r"error: (could not compile|aborting)", line) for line in bare)
    runs = STRICT.search(text) or re.search(r"^ *(Tests|Test Suites|Test Files):? +\d", text, re.MULTILINE)
    return bool(other or after or arrows or total or long or runs or len(set(bare)) < len(bare) or len(kinds) > 25)


def every_error(case_input):
    keeps = []
    for line in plain(case_input["text"]).split("\n"):
        if found := re.match(r"(.+?)\((\d+),\d+\):\s+error\s+(TS\d+):\s+(.+)$", line):
            keeps += [found[3], found[4].strip()[:80]]
        elif found := re.match(r"error(\[E\d+\])?: (?!could not compile|aborting)(.+)$", line):
            keeps.append(found[2].strip()[:80])
        elif found := re.match(r"(\S+?):\d+:\d+: (?:fatal )?error: (.+)$", line):
            keeps += [found[1], found[2][:80]]
    return contract(case_input, keeps)


def has_other_entries(case_input):
    """Quoted names, changed lines that begin like a name, merges, lines or diffs beyond a cap."""
    text = plain(case_input["text"])
    is_odd = re.search(r"\\[0-7]{3}|^(---|\+\+\+)[^ ]|^diff --(cc|combined) |\r", text, re.MULTILINE)
    hidden = re.search(r"^@@.*\n(?:[ +-].*\n)*(?:--- |\+\+\+ )", text, re.MULTILINE)
    is_big = text.count("\n") > 600 or any(len(line) > LONG for line in text.split("\n"))
    return case_input["contentType"] == "diff" and bool(is_odd or hidden or is_big or text != case_input["text"])


def every_file(case_input):
    text = plain(case_input["text"])
    named = re.findall(r"^(?:rename (?:from|to) |\+\+\+ b/)([^\"\n]+)$", text, re.MULTILINE)
    return contract(case_input, [name for name in named if len(name) < LONG], [r"\346", r"\303"])


def has_a_long_hit(case_input):
    return case_input["contentType"] == "search_results" and any(
        len(line) > LONG or "\x1b" in line or "\r" in line for line in case_input["text"].split("\n")
    )


def the_first_hit(case_input):
    lines = [line for line in plain(case_input["text"]).split("\n") if line.strip()]
    return contract(case_input, ["Search results: ", str(len(lines)), lines[0][:80]])


# -- logs ------------------------------------------------------------------------------------------------------------


def is_a_log(case_input):
    return case_input["contentType"] == "log"


def mined(case_input):
    """Templates counted with a plain loop: words masked one after another."""
    text = plain(case_input["text"])
    lines = [line.strip() for line in text.split("\n")]
    kinds = {}
    for line in filter(None, lines):
        kinds.setdefault(template_of(line), []).append(line)
    recent = [line for line in lines if re.search(r"\b(error|exception|fatal)\b", line, re.IGNORECASE)][-5:]
    right = {}
    for how, most in (("lite", 15), ("full", 8)):
        shown = chosen(kinds, most)
        parts = [f"Log: {len(lines)} lines, {len(kinds)} unique patterns"]
        for key, found in shown:
            label = key if len(set(found)) > 1 else found[0]
            parts.append(label + (f" (\u00d7{len(found)})" if len(found) > 1 else ""))
        parts += ["Recent errors:", *recent] if recent else []
        output = "\n".join(parts)
        right[how] = {
            "distiller": "log",
            "output": output,
            "inputTokens": estimate_tokens(case_input["text"]),
            "outputTokens": estimate_tokens(output),
        }
    return right


def template_of(line):
    made = " ".join(line.split())
    for pattern, mark in MASKS:
        made = re.sub(pattern, mark, made, flags=re.ASCII)
    return made if re.search(r"[^\W\d_]", re.sub("<(time|id|path|hex|n)>", "", made)) else line


DAY = r"\b\d{4}[-/]\d\d[-/]\d\d"
MASKS = (
    (rf"{DAY}T\d\d:\d\d(?::\d\d)?(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?|\b\d\d:\d\d:\d\d(?:[.,]\d+)?Z?|{DAY}", "<time>"),
    ("<time> <time>", "<time>"),
    (r"\b[0-9A-Fa-f]{8}-(?:[0-9A-Fa-f]{4}-){3}[0-9A-Fa-f]{12}\b|\b[0-9A-HJKMNP-TV-Z]{26}\b", "<id>"),
    (r"(?<![\w/\\.<])(?:[A-Za-z]:|~|\.{1,2})?[/\\][\w.@%+~-]+(?:[/\\][\w.@%+~-]+)+", "<path>"),
    (r"\b0x[0-9A-Fa-f]+\b|\b(?=[A-Fa-f]*\d)[0-9A-Fa-f]{7,}\b", "<hex>"),
    (r"\d+(?:[.,]\d+)*", "<n>"),
)


def chosen(kinds, most):
    serious = re.compile(
        r"\b(errors?|exception|fatal|fail(ed|ure|s)?|panic|critical|traceback)\b|(Error|Exception)\b", re.IGNORECASE
    )
    places = list(kinds.items())
    bad = [place for place, (_, found) in enumerate(places) if serious.search(found[0])]
    rest = [place for place in range(len(places)) if place not in bad]
    order = [*sorted(bad, key=lambda place: -len(places[place][1])), *sorted(rest, key=lambda p: -len(places[p][1]))]
    return [places[place] for place in sorted(order[: max(most, min(len(bad), 4 * most))])]
