"""The note graph: places of 5,000 notes and 20,000 links, against rustworkx; and frames while the picture moves.

    python tests/benchmarks/bench_note_graph.py

Frames are those of Chromium without a graphics card, idle ones of the same page beside them.
"""

import json
import sys
import time
from pathlib import Path

import numpy as np
import polars as pl
import rustworkx as rx

sys.path[:0] = [str(Path(__file__).resolve().parents[folder]) for folder in (1, 2)]

from browsing import Visit, chromium  # noqa: E402

from workbench.reports.note_layout import note_layout  # noqa: E402
from workbench.reports.note_map import note_map  # noqa: E402
from workbench.widgets import VaultGraph  # noqa: E402
from workbench.widgets.scripts import script, style  # noqa: E402

NOTES, LINKS, GROUPS = 5_000, 20_000, 25
BAR_MS = 33
FRAMES = """
() => {
  const frames = []; let last = null, goes = true;
  const tick = (now) => {
    if (last !== null) frames.push(now - last);
    last = now;
    if (goes) requestAnimationFrame(tick);
  };
  requestAnimationFrame(tick);
  window.stop_frames = () => { goes = false; return frames; };
}
"""
MODEL = """
window.model = {
  state: STATE, heard: {},
  on(name, act) { (this.heard[name] ??= []).push(act); }, off() {},
  get(name) { return this.state[name]; },
  set(name, value) { this.state[name] = value; for (const act of this.heard[`change:${name}`] || []) act(); },
  save_changes() {},
};
"""


def made(seed=1):
    """Notes in groups, nine of ten links within one, some notes much linked."""
    rng = np.random.default_rng(seed)
    group = rng.integers(0, GROUPS, NOTES)
    fame = rng.pareto(1.6, NOTES) + 0.2
    sources = rng.integers(0, NOTES, 3 * LINKS)
    targets = rng.choice(NOTES, 3 * LINKS, p=fame / fame.sum())
    for each in range(GROUPS):
        own, inside = (
            np.flatnonzero(group == each),
            np.flatnonzero((group[sources] == each) & (rng.random(len(sources)) < 0.9)),
        )
        targets[inside] = rng.choice(own, len(inside), p=fame[own] / fame[own].sum())
    pairs = np.unique(np.stack([sources, targets], axis=1)[sources != targets], axis=0)
    return rng.permutation(pairs)[:LINKS].T, group


def frames_of(page, act):
    page.evaluate(FRAMES)
    act()
    found = sorted(page.evaluate("stop_frames()"))
    return found[len(found) // 2], found[int(len(found) * 0.95)], len(found)


def tell(line):
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def main():
    (sources, targets), group = made()
    started = time.perf_counter()
    note_layout(sources, targets, NOTES)
    ours = time.perf_counter() - started
    graph = rx.PyGraph()
    graph.add_nodes_from(range(NOTES))
    graph.add_edges_from_no_data(list(zip(sources.tolist(), targets.tolist(), strict=True)))
    started = time.perf_counter()
    rx.spring_layout(graph, num_iter=20, seed=1)
    theirs = time.perf_counter() - started
    ratio = theirs / ours
    tell(f"places: {ours:.2f} s (200 rounds); rustworkx.spring_layout, 20 rounds: {theirs:.1f} s; {ratio:.1f} times")
    paths = [f"{number}.md" for number in range(NOTES)]
    notes = pl.DataFrame(
        {"path": paths, "title": [f"Note {n}" for n in range(NOTES)], "folder": [f"F{g}" for g in group]}
    )
    links = pl.DataFrame({"source_path": [paths[n] for n in sources], "target_path": [paths[n] for n in targets]})
    widget = VaultGraph(note_map(notes, links, title="made"))
    state = json.dumps(
        {name: getattr(widget, name) for name in ("data", "chosen", "query", "colour", "size", "steps", "detail")}
    )
    with chromium() as browser:
        visit = Visit(browser, "about:blank", width=1200, height=900)
        page = visit.page
        page.set_content(f"<style>{style('note_graph')}</style><body><div id=widget></div></body>")
        page.evaluate(MODEL.replace("STATE", state))
        page.add_script_tag(content=script("note_canvas", "note_graph").replace("export default", "window.made ="))
        page.evaluate("() => made.render({ model, el: document.querySelector('#widget') })")
        page.wait_for_timeout(500)
        box = page.locator(".wbg-stage").bounding_box()
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2

        def drag():
            page.mouse.move(x, y)
            page.mouse.down()
            for step in range(60):
                page.mouse.move(x + 2 * step, y + step)
            page.mouse.up()

        def zoom():
            page.locator(".wbg-stage").focus()
            for step in range(40):
                page.mouse.wheel(0, -40 if step < 20 else 40)

        def hover():
            for step in range(60):
                page.mouse.move(x - 150 + 5 * step, y + 3 * (step % 20))

        def focus():
            for key in ("Home", "Enter", "s", "s"):
                page.keyboard.press(key)
            drag()

        acts = {
            "idle": lambda: page.wait_for_timeout(700),
            "drag": drag,
            "zoom": zoom,
            "hover": hover,
            "3 steps, drag": focus,
        }
        for name, act in acts.items():
            middle, most, number = frames_of(page, act)
            verdict = "" if name == "idle" else f"  bar {BAR_MS}: {'met' if middle <= BAR_MS else 'MISSED'}"
            tell(f"{name:14} frame p50 {middle:5.1f} ms, p95 {most:5.1f} ms of {number}{verdict}")


if __name__ == "__main__":
    main()
