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
ROUNDS = 40


def say(line):
    sys.stdout.write(line + "\n")


def text(chance, count):
    return " ".join(chance.choices(WORDS, k=count))


def long_session(turns):
    chance = random.Random(turns)
    policy = Policy(compiler=Compiler(), tiers=Tiers(), engine=ContextEngine(), window=128_000)
    session = EngineSession("bench", policy)
    for turn in range(1, turns + 1):
        session.begin(turn, text(chance, 30))
        session.step()
        session.call(Call(tool="shell", args={"command": f"run {turn}"}, result=text(chance, 400)))
        session.call(Call(tool="read_file", args={"path": f"src/{turn % 50}.py"}, result=text(chance, 100)))
        if turn % 10 == 0:
            note = {"text": text(chance, 8)}
            session.act({"action": "create", "id": f"n{turn}", "kind": "note", "statePayload": note})
        session.end(text(chance, 60))
    return session


def compile_ms(session, turn):
    chance = random.Random(7)
    times = []
    for _ in range(ROUNDS):
        session.begin(turn, text(chance, 30))
        started = time.perf_counter()
        compile_prompt(session.moment(), session.policy.compiler, session.policy.engine, window=session.policy.window)
        times.append((time.perf_counter() - started) * 1e3)
    return statistics.median(times)


def anew_ms(session):
    """Scoring every unit against the prompt without anything kept: the original's way."""
    prompt = text(random.Random(7), 30)
    started = time.perf_counter()
    for unit in session.moment().pool.units:
        seed_relevance(prompt, unit.content)
    return (time.perf_counter() - started) * 1e3


def main():
    figures = {}
    for turns in (200, 1_000, 2_000):
        session = long_session(turns)
        figures[turns] = compile_ms(session, turns + 1)
        anew = anew_ms(session)
        units = len(session.moment().pool)
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
