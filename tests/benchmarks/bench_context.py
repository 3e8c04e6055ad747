"""The cost of one compile late in a long session, and of replaying recorded sessions.

    python tests/benchmarks/bench_context.py [FOLDER]

Bars (design 13): a prompt of a 1,000-turn session in at most 15 ms (median, no embedding), and with 2,000 turns at most
1.5 times what it takes with 200. The baseline beside it is tokenising and scoring every unit anew, the original's way.
FOLDER is a folder of Claude Code sessions to replay by exchange (bar: under 120 s for the 150 MB of real sessions).
"""

from __future__ import annotations

import random
import statistics
import sys
import tempfile
import time
from pathlib import Path

import workbench as wb
from workbench.config.context import Compiler, ContextEngine, Tiers
from workbench.context.compile import compile_prompt
from workbench.context.recorder import Call
from workbench.context.session import EngineSession, Policy
from workbench.experiments.replay_job import policy_of, replay_sessions
from workbench.text.bm25 import seed_relevance

WORDS = [f"{stem}{ending}" for stem in ("load", "parse", "table", "query", "index") for ending in range(400)]
NOTED = [f"{stem}{ending}" for stem in ("agreed", "beware") for ending in range(400)]
ROUNDS = 80


def say(line):
    sys.stdout.write(line + "\n")


def text(chance, count, words=WORDS):
    return " ".join(chance.choices(words, k=count))


def name_of(turn):
    """The word by which the note of an exchange is known."""
    return f"topic{turn:05}"


def asked(chance, turn):
    """A prompt: words that no note holds, and the name of one note."""
    return f"{text(chance, 29)} {name_of(10 * chance.randint(1, max(turn // 10, 1)))}"


def exchange(session, turn, chance, *, look=lambda _: 0.0):
    """One exchange: a prompt, two calls, every tenth time a note, an answer; `look` is called when it has begun.

    Each prompt names one earlier note, which comes back if it has sunk, however many there are.
    """
    session.begin(turn, asked(chance, turn))
    seen = look(session)
    session.step()
    session.call(Call(tool="shell", args={"command": f"run {turn}"}, result=text(chance, 400)))
    session.call(Call(tool="read_file", args={"path": f"src/{turn % 50}.py"}, result=text(chance, 100)))
    if turn % 10 == 0:
        note = {"text": f"{name_of(turn)} {text(chance, 7, NOTED)}"}
        session.act({"action": "create", "id": f"n{turn}", "kind": "note", "statePayload": note})
    session.end(text(chance, 60))
    return seen


def compile_ms(session):
    """Milliseconds of a prompt for an input that was never seen, state and summary rendered within them."""
    started = time.perf_counter()
    compile_prompt(session.moment(), session.policy.compiler, session.policy.engine, window=session.policy.window)
    return (time.perf_counter() - started) * 1e3


class Running:
    """A session of so many exchanges, and how long the prompts of its next ones take.

    A prompt is never begun twice: what a second beginning would bring back of the state never sinks again.
    """

    def __init__(self, turns):
        self.turn, self.times, self.chance = 0, [], random.Random(turns)
        policy = Policy(compiler=Compiler(), tiers=Tiers(), engine=ContextEngine(), window=128_000)
        self.session = EngineSession("bench", policy)
        for _ in range(turns):
            self.go_on()

    def go_on(self, look=lambda _: 0.0):
        self.turn += 1
        self.times.append(exchange(self.session, self.turn, self.chance, look=look))


def anew_ms(session):
    """Scoring every unit against the prompt without anything kept: the original's way."""
    prompt = text(random.Random(7), 30)
    started = time.perf_counter()
    for unit in session.moment().pool.units:
        seed_relevance(prompt, unit.content)
    return (time.perf_counter() - started) * 1e3


def main():
    running = {turns: Running(turns) for turns in (200, 1_000, 2_000)}
    for _ in range(ROUNDS):  # in turns, since the machine's speed swings
        for each in running.values():
            each.go_on(compile_ms)
    figures = {turns: statistics.median(each.times[-ROUNDS:]) for turns, each in running.items()}
    for turns, each in running.items():
        each.session.begin(each.turn + 1, asked(each.chance, each.turn))
        anew, units = anew_ms(each.session), len(each.session.moment().pool)
        told = f"compile, {turns:,} turns, {units:,} units: {figures[turns]:.1f} ms; scoring anew {anew:.1f} ms"
        say(f"{told}; ratio {anew / figures[turns]:.1f}")
    say(f"1,000 turns: {figures[1_000]:.1f} ms (bar 15)")
    say(f"2,000 against 200 turns: {figures[2_000] / figures[200]:.2f} times (bar 1.5)")
    if len(sys.argv) > 1:
        replay_folder(Path(sys.argv[1]))


def replay_folder(folder):
    with tempfile.TemporaryDirectory() as home:
        bench = wb.open(home)
        bench.ingest(folder)
        ids = bench.sessions["session_id"].to_list()
        started = time.perf_counter()
        result = replay_sessions(bench._lake, ids, policy_of(bench.config, "exchange"))
        seconds = time.perf_counter() - started
        prompts = sum(each.prompts for each in result.sessions)
        say(f"replay by exchange: {len(ids)} sessions, {prompts:,} prompts, {seconds:.1f} s (bar 120 for 150 MB)")


if __name__ == "__main__":
    main()
