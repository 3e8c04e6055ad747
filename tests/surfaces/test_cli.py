"""The command line: what it prints, with which exit code, and that nothing foreign steers the terminal."""

from __future__ import annotations

import inspect
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import typer
from command import WORKBENCH, environment, workbench
from in_process import runner
from transcripts import CWD, OTHER, SESSION, jsonl, prompt, small_session, stamp

import workbench as wb
from workbench.config import load_config
from workbench.store.tables import TABLES
from workbench.surfaces.cli.app import MODULES, _command, app, load_commands

EVIL = "ffffffff-0000-4000-8000-000000000003"
ESCAPES = "\x1b]0;owned\x07\x1b[31mred\x9b2J \N{RIGHT-TO-LEFT OVERRIDE}gpj.exe"
STEERING = ("\x1b", "\x07", "\x9b", "\N{RIGHT-TO-LEFT OVERRIDE}")


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """A home with three sessions, the last of which means ill; read only."""
    folder = tmp_path_factory.mktemp("cli")
    files = folder / "agent"
    files.mkdir()
    (files / "one.jsonl").write_bytes(jsonl(*small_session()))
    (files / "two.jsonl").write_bytes(
        jsonl(*small_session(OTHER, "b"), prompt("b9", "More?", session=OTHER, seconds=90))
    )
    evil = prompt("e1", ESCAPES, session=EVIL, seconds=900, cwd=f"/srv/{ESCAPES}", gitBranch=ESCAPES)
    (files / "three.jsonl").write_bytes(jsonl(evil, b'{"broken \x1b[31m'))
    wb.open(folder / "home").ingest(files)
    return folder / "home"


@pytest.fixture
def run(capsys, monkeypatch, tmp_path):
    """Runs the command in the process of the test."""
    return runner(capsys, monkeypatch, tmp_path)


@pytest.fixture
def files(tmp_path):
    """A folder with one session and one file that is none."""
    folder = tmp_path / "agent"
    folder.mkdir()
    (folder / f"{SESSION}.jsonl").write_bytes(jsonl(*small_session()))
    (folder / "README.md").write_text("# Notes\n")
    return folder


def columns(table):
    return [column.name for column in TABLES[table].declared]


# -- where the home is ------------------------------------------------------------------------------------------------


def test_the_home_may_be_named_before_and_after_the_command(run, home):
    query = ("sql", "select count(*) n from sessions", "--json")
    assert run("--home", home, *query).json == [{"n": 3}]
    assert run(*query, "--home", home).json == [{"n": 3}]
    assert run("--home", home.parent / "other", *query, "--home", home).json == [{"n": 3}]


def test_the_home_is_that_of_the_variable_else_in_the_users_data(run, home, monkeypatch, tmp_path):
    assert run("config", "--json").json["home"].startswith(str(tmp_path))
    monkeypatch.setenv("WORKBENCH_HOME", str(home))
    assert run("config", "--json").json["home"] == str(home)
    assert run("sessions", "--json").json[0]["session_id"] == EVIL


def test_an_empty_home_is_no_error(run, tmp_path):
    empty = tmp_path / "empty"
    assert run("sessions", "--home", empty, "--json").json == []
    assert run("sql", "select * from turns", "--home", empty, "--json").json == []
    assert "0 of 0 sessions" in run("sessions", "--home", empty).out
    done = run("show", "last", "--home", empty)
    assert (done.code, done.err) == (
        3,
        "workbench: there are no sessions in this home yet; `workbench ingest` imports them\n",
    )


# -- ingest -----------------------------------------------------------------------------------------------------------


def test_ingest_prints_json_of_this_shape(run, files, tmp_path):
    first = run("ingest", files, "--home", tmp_path / "h", "--json")
    assert first.code == 0
    assert first.json.pop("seconds") > 0
    expected = {
        "sessions": 1,
        "events": 7,
        "turns": 3,
        "tool_calls": 1,
        "unchanged": 0,
        "forgotten": 0,
        "issues": 0,
        "skipped": [{"path": str(files / "README.md"), "reason": "not a transcript of a known format"}],
        "errors": [],
    }
    assert {name: value for name, value in first.json.items() if name != "seconds"} == expected
    again = run("ingest", files, "--home", tmp_path / "h", "--json").json
    nothing = {"sessions": 0, "events": 0, "turns": 0, "tool_calls": 0, "unchanged": 1}
    assert {name: value for name, value in again.items() if name != "seconds"} == expected | nothing


def test_ingest_tells_a_person(run, files, tmp_path):
    done = run("ingest", files, "--home", tmp_path / "h")
    assert "landed 1 sessions: 7 events, 3 turns, 1 tool calls" in done.out
    assert "README.md: not a transcript of a known format" in done.out
    assert (done.code, done.err) == (0, "")


def test_what_cannot_be_read_is_told_and_the_rest_is_in(run, files, tmp_path):
    done = run("ingest", files, tmp_path / "nowhere", "--home", tmp_path / "h", "--json")
    assert (done.code, done.json["sessions"]) == (1, 1)
    assert done.json["errors"] == [{"path": str(tmp_path / "nowhere"), "reason": "No such file or directory"}]
    assert "No such file or directory" in run("ingest", tmp_path / "nowhere", "--home", tmp_path / "h").err


@pytest.mark.parametrize(
    ("folder", "variables"),
    [
        (".claude/projects", {}),
        (".config/claude/projects", {}),
        ("xdg/claude/projects", {"XDG_CONFIG_HOME": "xdg"}),
        ("elsewhere/projects", {"CLAUDE_CONFIG_DIR": "elsewhere"}),
        ("b/projects", {"CLAUDE_CONFIG_DIR": "a,b"}),
    ],
)
def test_without_a_path_the_agents_own_folders_are_imported(run, tmp_path, monkeypatch, folder, variables):
    (tmp_path / folder / "-srv-work-demo").mkdir(parents=True)
    (tmp_path / folder / f"-srv-work-demo/{SESSION}.jsonl").write_bytes(jsonl(*small_session()))
    for name, value in variables.items():
        monkeypatch.setenv(name, ",".join(str(tmp_path / part) for part in value.split(",")))
    done = run("ingest", "--home", tmp_path / "h", "--json")
    assert (done.code, done.json["sessions"]) == (0, 1)


def test_without_a_path_and_without_an_agent_it_says_where_it_looked(run, tmp_path):
    done = run("ingest", "--home", tmp_path / "h")
    assert done.code == 3
    assert str(tmp_path / ".claude/projects") in done.err
    assert "workbench ingest PATH" in done.err


@pytest.mark.parametrize("name", [f"{ESCAPES}.md", "\udcff\udcfe.md"], ids=["escapes", "no UTF-8"])
@pytest.mark.parametrize("form", [(), ("--json",)], ids=["text", "json"])
def test_a_file_may_have_any_name(run, files, tmp_path, name, form):
    (files / name).write_text("# Notes\n")
    done = run("ingest", files, "--home", tmp_path / "h", *form)
    assert done.code == 0
    assert not any(sign in done.out + done.err for sign in (STEERING[:2] if form else STEERING))


# -- sessions and show ------------------------------------------------------------------------------------------------


def test_sessions_prints_json_rows_newest_first(run, home):
    rows = run("sessions", "--home", home, "--json").json
    assert [row["session_id"] for row in rows] == [EVIL, SESSION, OTHER]
    assert [list(row) for row in rows] == [columns("sessions")] * 3
    assert (rows[1]["started_at"], rows[1]["title"], rows[1]["cwd"]) == (stamp(0).replace(".000", ""), "Build a.", CWD)


def test_sessions_tells_a_person(run, home):
    out = run("sessions", "--home", home).out
    assert "3 of 3 sessions; all projects" in out
    assert SESSION in out
    assert "Build a." in out


@pytest.mark.parametrize(
    ("options", "ids"),
    [
        (("--project", CWD), [SESSION, OTHER]),
        (("--project", "demo"), [SESSION, OTHER]),
        (("--project", "nowhere"), []),
        (("--agent", "claude-code"), [EVIL, SESSION, OTHER]),
        (("--agent", "pi"), []),
        (("--since", "2026-03-02T09:01:00"), [EVIL, OTHER]),
        (("--since", "2099-01-01"), []),
    ],
)
def test_sessions_may_be_filtered(run, home, monkeypatch, options, ids):
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    assert [row["session_id"] for row in run("sessions", "--home", home, "--json", *options).json] == ids


def test_filters_are_told(run, home):
    out = run("sessions", "--home", home, "--project", "demo", "--agent", "claude-code").out
    assert "2 of 2 sessions; only project demo, agent claude-code" in out


def test_the_newest_few_sessions(run, home):
    out = run("sessions", "--home", home, "-n", "1").out
    assert EVIL in out
    assert SESSION not in out
    assert "1 of 3 sessions" in out


def test_show_prints_json_of_this_shape(run, home):
    shown = run("show", SESSION, "--home", home, "--json").json
    assert list(shown) == ["session", "labels", "turn_records", "import_issues"]
    assert list(shown["session"]) == columns("sessions")
    assert [list(row) for row in shown["turn_records"]] == [columns("turn_records")]
    assert (shown["labels"], shown["import_issues"]) == (None, [])
    assert shown["turn_records"][0]["user_text"] == "Build a."
    assert run("show", EVIL, "--home", home, "--json").json["import_issues"][0]["line"] == 2


@pytest.mark.parametrize(
    ("name", "session_id"),
    [(OTHER, OTHER), (OTHER[:-1] + "2", OTHER), ("ffff", EVIL), ("last", EVIL), (SESSION, SESSION)],
)
def test_a_session_is_shown_by_id_by_prefix_or_as_the_last(run, home, name, session_id):
    assert run("show", name, "--home", home, "--json").json["session"]["session_id"] == session_id


def test_a_prefix_that_fits_several_names_them(run, home):
    done = run("show", "00000000", "--home", home)
    assert done.code == 3
    assert SESSION in done.err
    assert OTHER in done.err


@pytest.mark.parametrize("name", ["abc", "", "%", "0000000_", SESSION + "0", "' or true --"])
def test_a_session_that_is_not_there_is_told(run, home, name):
    done = run("show", name, "--home", home)
    assert done.code == 3
    assert name in done.err
    assert done.out == ""


def test_a_session_tells_a_person(run, home):
    out = run("show", SESSION, "--home", home).out
    for part in ("Build a.", SESSION, "claude-code 2.1.40", CWD, "input 6; output 28"):
        assert part in out


def test_a_session_as_markdown(run, home):
    out = run("show", SESSION, "--home", home, "--format", "md").out
    assert out.startswith("# Build a.\n")
    for part in ("> Build a.", "**Bash** `make` (ok)", "```\nbuilt\n```", "Done."):
        assert part in out


# -- sql --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("query", "rows"),
    [
        ("select 1 a, 'x' b", [{"a": 1, "b": "x"}]),
        ("select * from sessions where false", []),
        ("select sum(responses) s from sessions", [{"s": 4}]),
        ("select 'nan'::double x, null y, true z", [{"x": None, "y": None, "z": True}]),
        ("select timestamptz '2026-03-02 09:00:00+09' t", [{"t": "2026-03-02T00:00:00Z"}]),
        ("select date '2026-03-02' d", [{"d": "2026-03-02"}]),
        ("select interval 90 second i", [{"i": 90}]),
        ("select ended_at - started_at i from sessions where prompts = 2", [{"i": 90}]),
        ("select [1, 2] l, {'a': 1} s", [{"l": [1, 2], "s": {"a": 1}}]),
        ("select 12345678901234567890123::hugeint h", [{"h": 12345678901234567890123}]),
        ("select 1.50::decimal(5,2) d", [{"d": 1.5}]),
        ("select '\\xAA'::blob b", [{"b": "aa"}]),
        ("select '文🙂\"\n' t", [{"t": '文🙂"\n'}]),
    ],
)
def test_sql_prints_a_list_of_row_objects(run, home, query, rows):
    assert run("sql", query, "--home", home, "--json").json == rows


def test_sql_tells_a_person(run, home):
    out = run("sql", "select session_id, prompts from sessions order by all", "--home", home).out
    assert out.splitlines()[1].split() == [SESSION, "1"]
    assert "3 rows" in out
    assert run("sql", "select 1 n", "--home", home).out.splitlines()[-1] == "1 row"
    assert "3 rows; 1 shown" in run("sql", "select title from sessions", "--home", home, "--rows", "1").out


def test_the_query_may_come_from_a_file_or_from_standard_input(run, home, tmp_path, monkeypatch):
    (tmp_path / "q.sql").write_text("select 7 n")
    assert run("sql", "--file", tmp_path / "q.sql", "--home", home, "--json").json == [{"n": 7}]
    with (tmp_path / "q.sql").open() as stdin:
        monkeypatch.setattr(sys, "stdin", stdin)
        assert run("sql", "-", "--home", home, "--json").json == [{"n": 7}]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["select * from sesions"], "sessions"),
        (["selct 1"], "syntax error"),
        (["select colour from turns"], "colour"),
        (["select 1/'x'"], "Could not convert"),
        (["   "], "the query is empty"),
        ([], "give either a query or --file"),
        (["--file", "nowhere.sql"], "nowhere.sql cannot be read"),
        (["select 1", "--file", "x.sql"], "give either a query or --file"),
    ],
)
def test_a_query_that_cannot_run_is_told_with_what_helps(run, home, arguments, told):
    done = run("sql", *arguments, "--home", home)
    assert (done.code, done.out) == (2, "")
    assert told in done.err


# -- config -----------------------------------------------------------------------------------------------------------


def test_config_prints_json_of_this_shape(run, home):
    shown = run("config", "--home", home, "--json").json
    assert list(shown) == ["home", "values", "warnings"]
    assert (shown["home"], shown["warnings"]) == (str(home), [])
    assert {tuple(row) for row in shown["values"]} == {("key", "value")}
    explained = run("config", "--home", home, "--json", "--explain").json["values"]
    assert {"key", "value", "default", "origin", "meaning"} <= set(explained[0])
    assert len(explained) == len(shown["values"]) > 20


def test_config_tells_the_origin_of_a_value(run, tmp_path):
    key = next(row.key for row in load_config(tmp_path, project_dir=tmp_path).explain() if row.value == 0.5)
    group, _, name = key.rpartition(".")
    (tmp_path / "workbench.toml").write_text(f"[{group}]\n{name} = 0.25\n")
    out = run("config", "--home", tmp_path / "h", "--key", key).out
    assert "0.25" in out
    assert "workbench.toml" in out


def test_a_configuration_that_cannot_be_used_is_told(run, tmp_path):
    (tmp_path / "workbench.toml").write_text("[broken\n")
    done = run("config", "--home", tmp_path / "h")
    assert done.code in (0, 2)
    assert "workbench.toml" in done.err


# -- errors -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("marker", "told"),
    [(b'{"format": 99}', "upgrade workbench"), (b"junk", "not a home marker"), (b"[]", "not a home marker")],
)
@pytest.mark.parametrize("command", [["sessions"], ["sql", "select 1"], ["ingest", "."], ["config"]])
def test_a_home_of_a_newer_or_foreign_kind_is_refused(run, tmp_path, command, marker, told):
    (tmp_path / "h").mkdir()
    (tmp_path / "h/home.json").write_bytes(marker)
    done = run(*command, "--home", tmp_path / "h")
    assert (done.code, done.out) == (4, "")
    assert told in done.err


def test_a_home_that_cannot_be_made_is_told(run, tmp_path):
    (tmp_path / "file").write_text("x")
    done = run("sessions", "--home", tmp_path / "file/h")
    assert done.code == 4
    assert str(tmp_path / "file/h") in done.err


@pytest.mark.parametrize(
    "arguments",
    [["frobnicate"], ["sessions", "--colour"], ["sessions", "-n", "x"], ["sessions", "--since", "soon"], ["show"]],
)
def test_a_command_that_is_wrong_is_told(run, arguments):
    done = run(*arguments)
    assert (done.code, done.out) == (2, "")
    assert "Usage: " in done.err


def test_help_and_version(run):
    helped = run("--help")
    assert helped.code == 0
    for name in ("ingest", "sessions", "show", "sql", "config"):
        assert name in helped.out
        assert f"workbench {name} [OPTIONS]" in run(name, "--help").out
    assert run("--version").out == f"workbench {wb.__version__}\n"
    assert "Usage: " in (run().out or run().err)


@pytest.mark.parametrize(
    "arguments",
    [
        ["sessions"],
        ["show", "ffff"],
        ["show", "ffff", "--format", "md"],
        ["sql", "select title, cwd, git_branch from sessions"],
        ["sql", "select detail from import_issues"],
        ["sql", "select payload->>'text' t from events"],
        ["sql", f'select 1 as "{ESCAPES}"'],
        ["sql", f"select '{ESCAPES}' from nowhere"],
        ["show", ESCAPES],
    ],
    ids=lambda arguments: " ".join(arguments).encode("ascii", "backslashreplace").decode(),
)
def test_nothing_foreign_steers_the_terminal(run, home, arguments):
    done = run(*arguments, "--home", home)
    assert not any(sign in done.out + done.err for sign in STEERING)


@pytest.mark.parametrize("arguments", [["sessions"], ["show", "ffff"], ["sql", "select title from sessions"]])
def test_json_escapes_what_would_steer_the_terminal(run, home, arguments):
    out = run(*arguments, "--home", home, "--json").out
    assert "\x1b" not in out
    assert "\\u001b]0;owned" in out


# -- processes of their own -------------------------------------------------------------------------------------------


def test_no_progress_bar_goes_into_a_pipe(files, tmp_path):
    done = workbench("ingest", files, "--home", tmp_path / "h", cwd=tmp_path)
    assert (done.code, done.err) == (0, "")
    assert "\r" not in done.out
    assert "\x1b" not in done.out


@pytest.mark.skipif(sys.platform == "win32", reason="not in this clone: a terminal on Windows")
def test_a_progress_bar_goes_to_a_terminal(files, tmp_path):
    ours, theirs = os.openpty()
    command = [WORKBENCH, "ingest", str(files), "--home", str(tmp_path / "h"), "--json"]
    environ = environment(tmp_path, TERM="xterm")
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=theirs, env=environ, cwd=tmp_path, check=False)
    os.close(theirs)
    shown = os.read(ours, 65_536).decode(errors="replace")
    os.close(ours)
    assert json.loads(done.stdout)["sessions"] == 1
    assert "importing" in shown


@pytest.fixture
def _in_seoul(monkeypatch):
    monkeypatch.setenv("TZ", "Asia/Seoul")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.usefixtures("_in_seoul")
def test_times_are_local_for_a_person_and_utc_in_json(run, home):
    query = "select started_at from sessions where prompts = 2"
    assert "18:00:00" in run("sql", query, "--home", home).out
    assert "times in KST" in run("sql", query, "--home", home).out
    assert run("sql", query, "--home", home, "--json").json == [{"started_at": "2026-03-02T09:00:00Z"}]
    assert "started      2026-03-02 18:00:00 KST" in run("show", SESSION, "--home", home).out
    since = run("sessions", "--home", home, "--since", "2026-03-02T18:01:00", "--json").json
    assert [row["session_id"] for row in since] == [EVIL, OTHER]


def test_times_are_local_in_a_process_of_its_own(home, tmp_path):
    seoul = workbench("sessions", "--home", home, cwd=tmp_path, TZ="Asia/Seoul").out
    assert "started (KST)" in seoul
    assert "2026-03-02 18:00:00" in seoul


@pytest.mark.parametrize("form", [(), ("--json",)], ids=["text", "json"])
def test_a_reader_that_goes_away_gets_no_traceback(home, tmp_path, form):
    query = "select range n, repeat('x', 100) t from range(3000)"
    command = [WORKBENCH, "sql", query, "--rows", "3000", "--home", str(home), *form]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(tmp_path), cwd=tmp_path
    ) as process:
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode not in (0, 2, 3, 4)


def interrupted(command, tmp_path, until):
    """Start a command, send SIGINT once something is so, and give its exit code and what it said."""
    with subprocess.Popen(
        [WORKBENCH, *map(str, command)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(tmp_path),
        cwd=tmp_path,
    ) as process:
        deadline = time.monotonic() + 30
        while not until(process) and time.monotonic() < deadline:
            time.sleep(0.05)
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        try:
            out, err = process.communicate(timeout=8)
        except subprocess.TimeoutExpired:
            process.kill()
            pytest.fail("still running 8 s after SIGINT", pytrace=False)
    return process.returncode, out.decode(), err.decode()


def has_loaded(library):
    """Tells whether a process has loaded a library; only Linux tells of another process."""
    return lambda process: library in Path(f"/proc/{process.pid}/maps").read_text()


def test_ctrl_c_ends_a_long_query(home, tmp_path):
    """The first statement writes a file, so that the test sees when the second one runs."""
    marker = tmp_path / "started"
    query = (
        f"copy (select 1) to '{marker}'; select sum(a.range * b.range % 7) from range(10000000) a, range(10000000) b"
    )
    code, out, err = interrupted(["sql", query, "--home", home], tmp_path, lambda _: marker.exists())
    assert (code, out) == (130, "")
    assert "Traceback" not in err
    assert err.startswith("workbench: interrupted")


@pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="not in this clone: a system without /proc")
def test_ctrl_c_ends_an_import_that_waits_for_another(files, tmp_path):
    bench = wb.open(tmp_path / "h")
    with bench.home.landing_lock():
        code, out, err = interrupted(["ingest", files, "--home", tmp_path / "h"], tmp_path, has_loaded("deltalake"))
    assert (code, out) == (130, "")
    assert "Traceback" not in err
    assert err == "workbench: interrupted; what has landed stays, the same command goes on from there\n"


SLOW = {"polars", "duckdb", "deltalake", "pyarrow", "lancedb", "altair", "sklearn", "pydantic_settings", "numpy"}
HELP = """
import sys
from workbench.surfaces.cli import main
sys.argv = ["workbench", "--help"]
try:
    main()
except SystemExit:
    print(*sys.modules, file=sys.stderr)
"""


def test_help_loads_no_library_that_is_slow_to_start(tmp_path):
    command = [sys.executable, "-c", HELP]
    done = subprocess.run(command, capture_output=True, text=True, env=environment(tmp_path), cwd=tmp_path, check=True)
    assert SLOW & set(done.stderr.split()) == set()
    assert "Usage: workbench" in done.stdout


PANDAS = """
import sys
from workbench.surfaces.cli import start
sys.argv = ["workbench", *sys.argv[1:]]
try:
    start()
except SystemExit:
    print("pyarrow" in sys.modules, "pandas" in sys.modules, file=sys.stderr)
"""


@pytest.mark.parametrize("arguments", [["ingest"], ["sql", "select 1 as one"], ["sessions"], ["usage"]])
def test_no_command_waits_for_pandas_wherever_that_is_installed(home, files, tmp_path, arguments):
    pytest.importorskip("pandas")
    given = [*arguments, *([str(files)] if arguments == ["ingest"] else []), "--home", str(home), "--json"]
    command = [sys.executable, "-c", PANDAS, *given]
    done = subprocess.run(command, capture_output=True, text=True, env=environment(tmp_path), cwd=tmp_path, check=True)
    assert json.loads(done.stdout)
    assert done.stderr.split()[-1] == "False"


def test_a_notebook_keeps_its_pandas(home):
    pandas = pytest.importorskip("pandas")
    frame = wb.open(home).sql("select session_id from sessions").to_arrow().to_pandas()
    assert isinstance(frame, pandas.DataFrame)


def test_two_homes_do_not_know_each_other(run, files, home, tmp_path):
    run("ingest", files, "--home", tmp_path / "h")
    assert len(run("sessions", "--home", tmp_path / "h", "--json").json) == 1
    shutil.rmtree(tmp_path / "h")
    assert len(run("sessions", "--home", home, "--json").json) == 3


def test_every_command_names_the_modules_that_add_it_and_its_sub_commands():
    """A command that is run loads these alone, see `surfaces.cli.app.MODULES`."""
    load_commands()
    adding = {}
    for name, command in typer.main.get_command(app).commands.items():
        below = getattr(command, "commands", {}).values()
        called = [each.callback for each in [command, *below] if each.callback is not None]
        adding[name] = {inspect.unwrap(each).__module__.rpartition(".")[2] for each in called}
    assert adding == {name: set(modules) for name, modules in MODULES.items()}


@pytest.mark.parametrize(
    ("arguments", "command"),
    [
        (["usage"], "usage"),
        (["--home", "vault", "usage", "--json"], "usage"),
        (["--home=vault", "usage"], "usage"),
        (["--help"], ""),
        ([], ""),
    ],
)
def test_the_command_is_found_among_options(arguments, command):
    assert _command(arguments) == command
