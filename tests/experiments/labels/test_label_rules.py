"""Each rule on sessions of a few calls: which unit counts as needed at which model call."""

import polars as pl
import pytest

from workbench.config.context import Compiler, ContextEngine, Tiers
from workbench.context.session import Policy
from workbench.experiments.foreign_tools import our_args, our_name
from workbench.experiments.frames import build_frame, studied
from workbench.experiments.labels.identifiers import identifiers
from workbench.experiments.labels.rules import RULES
from workbench.experiments.labels.trace import END_OF_FILE, line_range
from workbench.experiments.recorded import RecordedCall, RecordedExchange, RecordedSession, RecordedStep
from workbench.experiments.replay import moments

FILLER = "nothing of note is here, only a plain English sentence without a name " * 3


def call(number, tool, result=FILLER, *, is_error=False, **args):
    name = our_name(tool, args)
    return RecordedCall(
        tool=tool,
        args=args,
        our_tool=name,
        our_args=our_args(name, args, args.get("command"), args.get("file_path") or args.get("path")),
        result=result,
        is_error=is_error,
        call_id=f"c{number}",
        called_at=None,
    )


def idle(count, first=50):
    """Model calls that have nothing to do with anything."""
    return [step(call(first + number, "Bash", command=f"sleep {number}")) for number in range(count)]


def step(*calls, text=""):
    return (text, calls)


def exchange(*steps, message="please go on", answer="done", turn=1):
    numbered = tuple(RecordedStep(number=n, text=text, calls=calls) for n, (text, calls) in enumerate(steps, 1))
    return RecordedExchange(turn=turn, user_text=message, answer=answer, started_at=None, steps=numbered)


def session(*exchanges):
    return RecordedSession(session_id="s", agent="claude-code", cwd="/p", project_id=None, exchanges=exchanges)


def policy(level):
    return Policy(compiler=Compiler(), tiers=Tiers(), engine=ContextEngine(), window=100_000, level=level)


def fired(recorded, rule, level="step"):
    """(exchange, model call, what the unit speaks of) of every pair on which a rule fires."""
    frame = build_frame(recorded, policy(level), steps_max=60)
    units = []
    for _, _, moment in moments(recorded, studied(policy(level))):
        units = moment.pool.units
    bit = RULES.index(rule)
    found = set()
    for moment in range(len(frame.turns)):
        for pair in range(frame.starts[moment], frame.starts[moment + 1]):
            if frame.labels[pair] >> bit & 1:
                unit = units[frame.units[pair]]
                found.add(
                    (int(frame.turns[moment]), int(frame.steps[moment]), unit.call_ids[0] if unit.call_ids else unit.id)
                )
    return found


def read(number, path="/p/a.py", **args):
    return call(number, "Read", f"{number} {FILLER}", file_path=path, **args)


def test_of_several_reads_the_newest_of_overlapping_lines_is_needed():
    recorded = session(
        exchange(
            step(read(1, offset=1, limit=50)),
            step(read(2, offset=40, limit=20)),
            step(read(3, offset=200, limit=10)),
            *idle(3),
            step(read(9, offset=45, limit=5)),
        )
    )
    assert fired(recorded, "b_ref") == {(1, 7, "c2")}
    assert fired(recorded, "b") == {(1, 7, "c1"), (1, 7, "c2"), (1, 7, "c3")}


def test_a_read_of_other_lines_needs_nothing():
    recorded = session(exchange(step(read(1, offset=1, limit=50)), *idle(3), step(read(9, offset=51, limit=5))))
    assert fired(recorded, "b_ref") == set()


def test_a_read_that_still_stands_word_for_word_is_not_needed_from_the_pool():
    recorded = session(exchange(step(read(1)), *idle(3), step(read(2)), *idle(1, 70), step(read(3))))
    assert fired(recorded, "b_ref") == {(1, 5, "c1")}


def test_a_failed_read_showed_no_lines():
    failed = call(1, "Read", "no such file " + FILLER, is_error=True, file_path="/p/a.py")
    assert fired(session(exchange(step(failed), *idle(3), step(read(2)))), "b_ref") == set()


@pytest.mark.parametrize(
    ("tool", "name", "again"),
    [
        ("Read", "file_path", "a.py"),  # relative to the session's folder
        ("read_file", "absolute_path", "/p/a.py"),  # Gemini CLI
        ("str_replace_editor", "path", "/p/./a.py"),  # SWE-agent
    ],
)
def test_every_agents_reads_are_alike(tool, name, again):
    args = {"command": "view"} if tool.startswith("str") else {}
    path = {"absolute_path": "/p/a.py"} if name == "absolute_path" else {name: "/p/a.py"}

    def seen(number, where):
        made = call(number, tool, f"{number} {FILLER}", **args, **{name: where})
        shown = our_args(made.our_tool, made.args, None, where)
        return RecordedCall(
            tool=tool, args=made.args, our_tool=made.our_tool, our_args=shown, result=made.result, is_error=False,
            call_id=f"c{number}", called_at=None,
        )  # fmt: skip

    recorded = session(exchange(step(seen(1, path[name])), *idle(3), step(seen(2, again))))
    assert fired(recorded, "b_ref") == {(1, 5, "c1")}


@pytest.mark.parametrize(
    ("args", "lines"),
    [
        ({}, (1, END_OF_FILE)),
        ({"offset": 10, "limit": 5}, (10, 14)),
        ({"offset": 10}, (10, END_OF_FILE)),
        ({"offset": -3, "limit": 0}, (1, END_OF_FILE)),
        ({"view_range": [5, 9]}, (5, 9)),
        ({"view_range": [5, -1]}, (5, END_OF_FILE)),
        ({"start_line": 3, "end_line": 4}, (3, 4)),
        ({"offset": "10", "limit": True}, (1, END_OF_FILE)),
    ],
)
def test_the_lines_that_a_read_asks_for(args, lines):
    assert line_range(args) == lines


def grep(number, words):
    return call(number, "Bash", f"{words} {FILLER}", command=f"look {number}")


def uses(number, words):
    return step(call(number, "Bash", command=words))


def test_the_unit_that_shows_a_rare_identifier_is_needed_where_the_agent_uses_it():
    recorded = session(exchange(step(grep(1, "parse_line_two")), *idle(3), uses(9, "run parse_line_two")))
    assert fired(recorded, "c_vis") == {(1, 5, "c1")}


def test_an_identifier_of_four_units_is_not_rare():
    held = [step(grep(number, "parse_line_two")) for number in range(1, 5)]
    assert fired(session(exchange(*held[:3], *idle(3), uses(9, "parse_line_two"))), "c") == {
        (1, 7, "c1"), (1, 7, "c2"), (1, 7, "c3"),
    }  # fmt: skip
    assert fired(session(exchange(*held, *idle(3), uses(9, "parse_line_two"))), "c") == set()


def test_an_identifier_of_the_message_comes_from_there():
    steps = [step(grep(1, "parse_line_two")), *idle(3), uses(9, "parse_line_two")]
    assert fired(session(exchange(*steps, message="mend parse_line_two")), "c") == set()


def test_an_identifier_that_the_agent_wrote_since_the_message_comes_from_there():
    steps = [
        step(grep(1, "parse_line_two")),
        *idle(3),
        uses(8, "parse_line_two"),
        *idle(3, 70),
        uses(9, "parse_line_two"),
    ]
    assert fired(session(exchange(*steps)), "c_strict") == {(1, 5, "c1")}
    assert (1, 9, "c1") in fired(session(exchange(*steps)), "c")


def test_an_identifier_in_the_last_two_model_calls_comes_from_there():
    steps = [step(grep(1, "parse_line_two")), *idle(3), step(grep(2, "parse_line_two")), uses(9, "parse_line_two")]
    assert fired(session(exchange(*steps)), "c_strict") == set()


def test_an_identifier_that_the_card_leaves_out_is_a_weak_need():
    long = (
        "\n".join(f"line {number} says {FILLER}" for number in range(40))
        + "\nparse_line_two\n"
        + "\n".join(f"line {number} ends {FILLER}" for number in range(40))
    )
    recorded = session(exchange(step(call(1, "Bash", long, command="cat log")), *idle(3), uses(9, "parse_line_two")))
    assert fired(recorded, "c_strict") == {(1, 5, "c1")}
    assert fired(recorded, "c_vis") == set()


def test_an_identifier_of_an_earlier_answer_points_to_the_digest():
    first = exchange(*idle(1), answer="I called it parse_line_two.")
    second = exchange(*idle(3, 70), uses(9, "parse_line_two"), message="go on", turn=2)
    assert fired(session(first, second), "c_vis") == {(2, 4, "turn_1")}


def test_a_file_that_is_touched_later_and_the_newest_unit_of_it():
    edit = call(2, "Edit", FILLER, file_path="/p/a.py", old_string="x", new_string=FILLER)
    recorded = session(exchange(step(read(1)), step(edit), *idle(3), step(call(9, "Edit", file_path="/p/a.py"))))
    assert fired(recorded, "a") == {(1, 6, "c1"), (1, 6, "c2")}
    assert fired(recorded, "a_strict") == fired(recorded, "a")
    assert fired(recorded, "a_ref") == {(1, 6, "c2")}


def test_a_file_that_the_message_names_is_no_strict_need():
    recorded = session(exchange(step(read(1)), *idle(3), step(read(2)), message="look at a.py again"))
    assert fired(recorded, "a") == {(1, 5, "c1")}
    assert fired(recorded, "a_strict") == set()


def test_a_failed_command_that_is_run_again():
    def run(number, *, is_error):
        return step(call(number, "Bash", f"{number} {FILLER}", command="make test", is_error=is_error))

    recorded = session(exchange(run(1, is_error=True), run(2, is_error=True), *idle(3), run(9, is_error=False)))
    assert fired(recorded, "d") == {(1, 6, "c1"), (1, 6, "c2")}
    assert fired(recorded, "d_open") == {(1, 6, "c2")}
    mended = session(exchange(run(1, is_error=True), run(2, is_error=False), *idle(3), run(9, is_error=False)))
    assert fired(mended, "d_open") == set()


def test_by_exchange_what_the_exchange_found_itself_is_not_needed():
    large = " ".join(f"word{'x' * (n % 7)} goes here" for n in range(600))
    first = exchange(step(call(1, "Bash", f"parse_line_two {large}", command="look")))
    again = exchange(step(grep(2, "parse_line_two")), uses(3, "parse_line_two"), message="go on", turn=2)
    direct = exchange(uses(3, "parse_line_two"), message="go on", turn=2)
    assert fired(session(first, direct), "c_vis", "exchange") == {(2, 0, "c1")}
    assert fired(session(first, again), "c_vis", "exchange") == set()


def test_identifiers_are_words_of_programs():
    text = "The parser read_lines getUser utf8Text ABC12 a_b it's src/my_file.py plain NAME x1"
    found = identifiers(pl.DataFrame({"owner": [1], "text": [text]}), "owner", "text")
    assert found["token"].sort().to_list() == ["ABC12", "getUser", "my_file", "read_lines", "utf8Text"]


def test_a_session_without_calls_or_exchanges_has_no_pairs():
    for recorded in (session(), session(exchange()), session(exchange(step(text="hello")))):
        assert build_frame(recorded, policy("step"), steps_max=60).labels.tolist() == []
        assert build_frame(recorded, policy("exchange"), steps_max=60).labels.tolist() == []
