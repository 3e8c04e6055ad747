"""`workbench report sessions` as a command: what it writes, what it says, and homes of every kind."""

import time

import pytest
from command import workbench
from in_process import runner
from made_sessions import write_sessions
from report_pages import Page

import workbench as wb
from workbench.surfaces.shipped import sample_sessions

TALLY = "/home/sam/projects/tally"


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    folder = tmp_path_factory.mktemp("report")
    wb.open(folder / "home").ingest(*sample_sessions())
    return folder / "home"


@pytest.fixture
def report(capsys, monkeypatch, home):
    """Runs the command in this process, over the samples unless another home is named."""
    run = runner(capsys, monkeypatch, home.parent)

    def report(*arguments, home=home, out=None):
        return run("report", "sessions", *arguments, "--home", home, *(["--out", out] if out else []))

    return report


def test_it_writes_one_file_and_says_where(home):
    done = workbench("report", "sessions", "--home", home, cwd=home.parent)
    assert (done.code, done.err) == (0, "")
    path = home.parent / "reports" / "sessions.html"
    lines = done.out.splitlines()
    assert lines[0].startswith("reports/sessions.html: 13 sessions, ")
    assert lines[1:] == ["all projects", f"open  {path.as_uri()}"]
    page = Page(path.read_text("utf-8"))
    assert {
        "overview",
        "most-expensive",
        "files",
        "sessions",
        "session-895dc31c-6255-4222-94eb-1eb6c03087e3",
    } <= page.ids()


def test_its_json_has_a_stable_shape(report, tmp_path):
    done = report("--session", "895dc31c", "--session", "last", "--json", out=tmp_path / "two.html")
    told = done.json
    assert list(told) == ["path", "manifest", "sessions", "size_bytes", "session_ids"]
    assert (told["path"], told["sessions"]) == (str(tmp_path / "two.html"), 2)
    assert told["session_ids"][0] == "895dc31c-6255-4222-94eb-1eb6c03087e3"
    assert told["size_bytes"] == (tmp_path / "two.html").stat().st_size
    assert Page((tmp_path / "two.html").read_text("utf-8")).text("foot").endswith("Only session 895dc31c, last.")


def test_options_narrow_it_down(report, tmp_path):
    told = report("--project", TALLY, "--since", "2026-03-10", "--json", out=tmp_path).json
    assert told["sessions"] == len(told["session_ids"]) == 2
    assert report("--agent", "workbench", "--json", out=tmp_path).json["sessions"] == 3


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["--session", "nothing"], 3, "no session begins with 'nothing'"),
        (["--agent", "nobody"], 3, "no session fits these options"),
        (["--out", "/proc/none/x.html"], 4, "cannot be written"),
    ],
)
def test_what_cannot_be_done_is_told(report, arguments, code, said):
    done = report(*arguments)
    assert done.code == code
    assert said in done.err


def test_an_empty_home_gets_a_page_that_says_what_to_do(report, monkeypatch, tmp_path):
    wb.open(tmp_path / "home")
    monkeypatch.chdir(tmp_path)
    done = report("--json", home=tmp_path / "home")
    assert done.json["sessions"] == 0
    assert "There are no sessions yet" in Page((tmp_path / "reports" / "sessions.html").read_text("utf-8")).text(
        "empty"
    )


@pytest.mark.parametrize("sessions", [450, pytest.param(1000, marks=pytest.mark.slow)])
def test_many_sessions_stay_one_small_file(tmp_path, sessions):
    write_sessions(tmp_path, sessions, 1)
    bench = wb.open(tmp_path / "home")
    bench.ingest(tmp_path / "projects")
    started = time.process_time()
    written = bench.report("sessions", tmp_path / "out.html")
    assert written.sessions == sessions
    assert written.size_bytes < 3_000_000
    assert time.process_time() - started < 30
    assert f"The newest 400 of {sessions:,}." in Page(written.path.read_text("utf-8")).text("sessions")
