"""`workbench lab` with real servers and a browser: the marimo app and the Jupyter notebook, samples and hostile."""

import json
import signal
import subprocess
import tomllib
import urllib.error
import urllib.request
from contextlib import contextmanager
from pathlib import Path

import pytest
from browsing import SCREENSHOTS, Visit
from command import WORKBENCH, environment
from hostile_sessions import HOSTILE, HOSTILE_SESSION, write_hostile_sessions

import workbench as wb
from workbench.reports.render.text import one_line
from workbench.surfaces.shipped import notebooks_folder, sample_sessions

HERE = Path(__file__).parent
EXPECTED = tomllib.loads((HERE / "expected.toml").read_text("utf-8"))

SHOWN = [one_line(text) for text in HOSTILE]

HOSTILE_CELLS = (
    """\
import altair as alt
from workbench.surfaces.shipped import open_home
from workbench.widgets import SessionTimeline
alt.renderers.enable("jupyter", offline=True)
bench = open_home()""",
    """bench.sql("select tool, input, result[:200] as result from tool_calls order by seq").head(40)""",
    """\
rows = bench.sql("select tool, count(*) as calls from tool_calls group by tool order by tool")
alt.Chart(rows, title=rows["tool"][0]).mark_bar().encode(x="calls", y="tool", tooltip=["tool"])""",
    f"""\
timeline = SessionTimeline.of(bench, "{HOSTILE_SESSION}")
timeline.chosen = next(item["id"] for item in timeline.data["items"] if item["kind"] == "tool")
timeline""",
)


def notebook_of(sources):
    """A Jupyter notebook of code cells, as its file has it."""
    cells = [
        {"cell_type": "code", "id": f"cell-{number}", "source": source, "metadata": {}, "outputs": []}
        | {"execution_count": None}
        for number, source in enumerate(sources)
    ]
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    folder = tmp_path_factory.mktemp("lab")
    bench = wb.open(folder / "home")
    bench.ingest(*sample_sessions(), write_hostile_sessions(folder))
    (folder / "home" / "notebooks").mkdir()
    (folder / "home" / "notebooks" / "hostile.ipynb").write_text(json.dumps(notebook_of(HOSTILE_CELLS)), "utf-8")
    return folder / "home"


@contextmanager
def lab(home, *arguments):
    """The command as a process, and what it told; it has to be ended by the block."""
    command = [WORKBENCH, "lab", *arguments, "--home", str(home), "--no-browser", "--json"]
    running = subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, env=environment(home.parent), cwd=home.parent
    )
    try:
        lines = []
        while not lines or lines[-1] not in ("}\n", ""):
            lines.append(running.stdout.readline())
        yield running, json.loads("".join(lines))
    finally:
        if running.poll() is None:
            running.kill()
        running.stdout.close()
        running.wait()


def children(pid):
    """Processes that belong to the server: of its session, or started below it."""
    found, parents = {}, {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        parents[int(stat.parent.name)] = (int(fields[1]), int(fields[3]), fields[0])
    for each, (parent, session, state) in parents.items():
        if state != "Z" and (pid in {session, each} or parent in found):
            found[each] = parent
    return set(found)


def answer(url):
    """The code with which a server answers someone who knows no token."""
    try:
        with urllib.request.urlopen(url, timeout=10) as response:
            return response.status, response.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, ""


@pytest.fixture(scope="module")
def app(home):
    before = {path: path.read_bytes() for path in notebooks_folder().iterdir() if path.is_file()}
    with lab(home, "sessions") as (running, told):
        yield running, told
        running.send_signal(signal.SIGINT) if running.poll() is None else None
        assert running.wait(30) == 0
    assert {path: path.read_bytes() for path in before} == before


@pytest.fixture(scope="module")
def opened(app, browser):
    visit = Visit(browser, app[1]["url"], height=1100)
    visit.page.locator("#answer").wait_for()
    visit.page.locator(".wbt-item").first.wait_for()
    yield visit
    visit.close()


def test_the_app_asks_for_its_token_on_loopback_only(app):
    _, told = app
    assert told["url"].startswith(f"http://127.0.0.1:{told['port']}/?access_token=")
    page = answer(f"http://127.0.0.1:{told['port']}/")[1]
    assert "marimo-filename" not in page
    assert Path("/proc/net/tcp").read_text().count(f"0100007F:{told['port']:04X} 00000000:0000 0A") == 1
    line = Path(f"/proc/{told['pid']}/cmdline").read_bytes().decode()
    assert told["url"].rpartition("=")[2] not in line


def test_the_app_runs_nothing_of_hostile_sessions(opened):
    page = opened.page
    choice = page.locator("marimo-dropdown select").nth(1)
    names = choice.locator("option").all_inner_texts()
    choice.select_option(label=next(name for name in names if "00000000" in name and "script" in name))
    page.locator(".wbt-title[title$='aa']").wait_for()
    page.locator(".wbt-tool").nth(3).click()
    page.locator(".wbt-detail").wait_for()
    assert SHOWN[3] in " ".join(page.locator(".wbt-panel").inner_text().split())
    page.locator("marimo-text input").nth(1).fill("evil")
    page.keyboard.press("Enter")
    page.wait_for_function("document.querySelector('#hits')?.innerText.includes('evil')")
    assert (opened.pwned, opened.strangers, opened.complaints) == (None, [], [])
    assert page.locator("img[src^='data:'], img[src*='evil'], a[href^='javascript']").count() == 0


def test_the_app_shows_the_samples(opened):
    page = opened.page
    page.locator("marimo-text input").first.fill("/home/sam")
    page.keyboard.press("Enter")
    page.wait_for_function("document.querySelector('#overview')?.innerText.includes('in 3 projects')")
    page.get_by_text("Click an item, or press Enter").wait_for()
    page.locator("marimo-text input").nth(1).fill("outbox limit")
    page.keyboard.press("Enter")
    page.wait_for_function("document.querySelector('#hits')?.innerText.includes('outbox')")
    page.locator("#answer").wait_for()
    page.locator("#event").wait_for()
    assert opened.missing(EXPECTED["marimo"]) == []
    assert (opened.strangers, opened.complaints) == ([], [])
    page.get_by_role("heading", name="Sessions", exact=True).first.evaluate("(node) => node.scrollIntoView()")
    page.screenshot(path=SCREENSHOTS / "marimo-top.png")
    page.locator(".wbt").scroll_into_view_if_needed()
    page.locator(".wbt-tool").nth(2).click()
    page.locator(".wbt-detail").wait_for()
    page.screenshot(path=SCREENSHOTS / "marimo-timeline.png")
    page.get_by_role("heading", name="Find and read").first.evaluate("(node) => node.scrollIntoView()")
    page.screenshot(path=SCREENSHOTS / "marimo-search.png")
    page.get_by_role("heading", name="Ask anything").first.evaluate("(node) => node.scrollIntoView()")
    page.screenshot(path=SCREENSHOTS / "marimo-sql.png")


def test_a_choice_by_keyboard_reaches_python(opened):
    page = opened.page
    page.locator(".wbt-item[tabindex='0']").focus()
    page.keyboard.press("Home")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    chosen = page.locator(".wbt-item[aria-selected='true']").get_attribute("data-id")
    page.wait_for_function(
        "(id) => document.querySelector('#event')?.innerText.includes(id)", arg=chosen.partition(":")[2]
    )
    assert chosen.startswith(("tool:", "response:", "exchange:"))


def test_ctrl_c_ends_the_app_and_leaves_no_process(app):
    running, told = app
    assert told["pid"] in children(told["pid"])
    running.send_signal(signal.SIGINT)
    assert running.wait(30) == 0
    assert children(told["pid"]) == set()
    with pytest.raises(OSError, match="refused"):
        urllib.request.urlopen(f"http://127.0.0.1:{told['port']}/", timeout=5)


@pytest.fixture(scope="module")
def jupyter(home):
    with lab(home, "--jupyter") as (running, told):
        yield running, told


SHOWN_PANEL = ".jp-NotebookPanel:not(.lm-mod-hidden)"
"""The notebook in front."""

ALL_RAN = f"""
() => {{
  const prompts = [...document.querySelectorAll("{SHOWN_PANEL} .jp-CodeCell .jp-InputArea-prompt")];
  return prompts.length > 0 && prompts.every((prompt) => /\\[\\d+\\]/.test(prompt.textContent));
}}
"""


def wait_for_kernel(page):
    page.get_by_text("Python 3 (ipykernel) | Idle").or_(page.get_by_text("Python 3 | Idle")).first.wait_for()


def run_all(visit):
    """Run the notebook in front from the menu, and wait for every cell's number."""
    page = visit.page
    wait_for_kernel(page)
    page.locator(f"{SHOWN_PANEL} .jp-CodeCell").first.click()
    page.get_by_role("menuitem", name="Run", exact=True).click()
    page.locator("[data-command='runmenu:run-all'] .lm-Menu-itemLabel").click()
    page.wait_for_function(ALL_RAN)
    return page.locator(SHOWN_PANEL)


@pytest.fixture(scope="module")
def jupyterlab(jupyter, browser):
    """The page of JupyterLab, which takes a third of a minute to load, with the notebook that is shipped in front."""
    visit = Visit(browser, jupyter[1]["url"], height=1100)
    yield visit
    visit.close()


def test_the_notebook_runs_in_jupyterlab(jupyterlab, home):
    visit, page = jupyterlab, jupyterlab.page
    run_all(visit)
    page.locator(".wbt-item").first.wait_for()
    page.locator(".wbt-detail").wait_for()
    assert visit.missing(EXPECTED["jupyter"]) == []
    page.locator(".vega-embed svg, .vega-embed canvas").first.wait_for()
    page.locator(".vega-embed").scroll_into_view_if_needed()
    page.screenshot(path=SCREENSHOTS / "jupyter-chart.png")
    page.locator(".wbt").scroll_into_view_if_needed()
    page.locator(".wbt-item[tabindex='0']").focus()
    before = page.locator(".jp-Cell").count()
    for key in ("ArrowLeft", "ArrowLeft", "+", "ArrowRight", "0", "Enter"):
        page.keyboard.press(key)
    page.wait_for_timeout(300)
    assert page.locator(".jp-Cell").count() == before, "Jupyter's own shortcuts stay out"
    page.screenshot(path=SCREENSHOTS / "jupyter-timeline.png")
    assert (visit.strangers, visit.complaints) == ([], [])
    assert (home / "notebooks" / "quickstart.ipynb").is_file()


def test_hostile_text_does_nothing_in_jupyterlab(jupyterlab):
    visit = jupyterlab
    visit.page.locator(".jp-DirListing-item", has_text="hostile.ipynb").dblclick()
    visit.page.locator(f"{SHOWN_PANEL} .jp-CodeCell", has_text="open_home()").first.wait_for()
    panel = run_all(visit)
    panel.locator(".wbt-detail").wait_for()
    panel.locator(".vega-embed :is(svg, canvas)").first.hover()
    assert (visit.pwned, visit.strangers, visit.complaints) == (None, [], [])
    assert panel.locator(":is(img[src*=evil], iframe, a[href^=javascript])").count() == 0


def test_sigterm_ends_jupyter_and_its_kernels(jupyter, jupyterlab):
    running, told = jupyter
    wait_for_kernel(jupyterlab.page)
    assert len(children(told["pid"])) > 1, "there is a kernel"
    before = children(told["pid"])
    running.terminate()
    assert running.wait(30) == 0
    assert {pid for pid in before if Path(f"/proc/{pid}").exists()} == set()
