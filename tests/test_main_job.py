"""The main job: the samples in, a table out, a report written; and the same again."""

import json
import sys
from pathlib import Path

import pytest

from workbench.bench import Workbench
from workbench.surfaces.main_job import ROOT, SAMPLES, main

STEPS = ("replay", "comparison", "study", "vault", "vectors", "notes")
ABOUT = {"isSidechain": False, "sessionId": "s-one", "cwd": "/srv/demo", "version": "2.1.40"}
USAGE = {"input_tokens": 3, "output_tokens": 1234}
HI = {
    "id": "m1",
    "role": "assistant",
    "model": "some-model",
    "content": [{"type": "text", "text": "Hi."}],
    "usage": USAGE,
}
ASKED = {"type": "user", "uuid": "u1", "parentUuid": None, "timestamp": "2026-03-02T09:00:00.000Z", **ABOUT}
ANSWERED = {"type": "assistant", "uuid": "u2", "parentUuid": "u1", "timestamp": "2026-03-02T09:00:05.000Z", **ABOUT}
TRANSCRIPT = [
    json.dumps({**ASKED, "message": {"role": "user", "content": "Hello \x1b[31mred"}}),
    json.dumps({**ANSWERED, "requestId": "r1", "message": HI}),
]


@pytest.fixture(autouse=True)
def fast_embedder(monkeypatch):
    """LSA in place of the default model, which takes a minute for the samples."""
    monkeypatch.setenv("WORKBENCH_EMBEDDING__MODEL", "lsa")


@pytest.fixture
def only_import(monkeypatch):
    """Nothing after the import and the report of sessions."""
    monkeypatch.setattr("workbench.surfaces.main_steps.further_steps", lambda *_: iter(()))


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    folder = tmp_path_factory.mktemp("main_job")
    return ["--home", str(folder / "home"), "--out", str(folder / "reports")], folder


@pytest.fixture
def transcripts(tmp_path):
    folder = tmp_path / "sessions"
    folder.mkdir()
    (folder / "s-one.jsonl").write_text("\n".join(TRANSCRIPT) + "\n", "utf-8")
    (folder / "notes.md").write_text("no transcript", "utf-8")
    return folder


def test_the_samples_land_and_the_report_is_there(folders, capsys):
    arguments, folder = folders
    assert main(arguments) == 0
    printed = capsys.readouterr()
    assert printed.err == ""
    assert printed.out.startswith("imported ")
    assert "claude-code" in printed.out
    assert "workbench" in printed.out
    report, manifest = folder / "reports" / "sessions.html", folder / "reports" / "sessions.manifest.json"
    assert report.as_uri() in printed.out
    assert 'id="tool-calls"' in report.read_text("utf-8")
    assert json.loads(manifest.read_text("utf-8"))["file"] == "sessions.html"
    steps = [line.split(":")[0] for line in printed.out.splitlines()]
    assert [step for step in steps if step in STEPS] == list(STEPS)
    assert "study: no verdict: 2 scored sessions, at least 30 are needed" in printed.out
    assert "not done" not in printed.out
    for page in ("context", "telemetry", "tuning", "vault"):
        assert (folder / "reports" / f"{page}.html").as_uri() in printed.out
    sessions = Workbench(folder / "home").sessions
    assert set(sessions["agent"]) == {"claude-code", "workbench"}
    assert all(session_id[:8] in printed.out for session_id in sessions["session_id"])


def written(home):
    """Every file of rows with its time; of the notes' runs each is one."""
    files = (home / "tables").rglob("*.parquet")
    return {path: path.stat().st_mtime_ns for path in files if "vault_runs" not in path.parts}


def test_again_nothing_changes(folders, capsys):
    arguments, folder = folders
    capsys.readouterr()
    before = written(folder / "home")
    assert main(arguments) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("nothing changed in ")
    assert " 0 of them new\n" in printed
    assert written(folder / "home") == before


@pytest.mark.usefixtures("only_import")
def test_sessions_from_elsewhere_are_told_alone(folders, transcripts, capsys):
    arguments, folder = folders
    main(arguments)
    capsys.readouterr()
    assert main([*arguments, "--from", str(transcripts)]) == 0
    printed = capsys.readouterr().out
    head, *table = printed.splitlines()[:4]
    assert head.startswith(f"imported 1 session from {transcripts} in ")
    assert head.endswith(" events, 2 turns, 0 tool calls")
    assert table == [
        "",
        "session  agent        prompts  responses  calls  failed  output  title",
        "s-one    claude-code        1          1      0       0   1,234  Hello red",
    ]
    assert f"1 file skipped:\n  {transcripts / 'notes.md'}: not a transcript" in printed
    assert "\x1b" not in printed
    assert "1 session in 1 project" in (folder / "reports" / "sessions.html").read_text("utf-8")


@pytest.mark.usefixtures("only_import")
def test_many_sessions_have_a_line_a_project(folders, transcripts, capsys):
    arguments, _ = folders
    for number in range(25):
        lines = "\n".join(TRANSCRIPT).replace("s-one", f"s-{number}").replace("/srv/demo", f"/srv/{number % 2}")
        (transcripts / f"s-{number}.jsonl").write_text(lines + "\n", "utf-8")
    assert main([*arguments, "--from", str(transcripts)]) == 0
    printed = capsys.readouterr().out
    assert "sessions  agent        prompts  responses  calls  failed  output  project" in printed
    assert "      13  claude-code       13         13      0       0  16,042  /srv/0" in printed


@pytest.mark.usefixtures("only_import")
def test_a_folder_without_sessions_says_so(tmp_path, capsys):
    (tmp_path / "empty").mkdir()
    arguments = ["--home", str(tmp_path / "home"), "--out", str(tmp_path / "out"), "--from", str(tmp_path / "empty")]
    assert main(arguments) == 0
    assert capsys.readouterr().out.startswith(
        f"nothing landed from {tmp_path / 'empty'}\nthere are no sessions in it\n"
    )
    assert 'id="empty"' in (tmp_path / "out" / "sessions.html").read_text("utf-8")


def test_a_step_that_cannot_be_done_hides_no_other(tmp_path, transcripts, monkeypatch, capsys):
    monkeypatch.setenv("WORKBENCH_EMBEDDING__MODEL", "no-such-model")
    arguments = ["--home", str(tmp_path / "home"), "--out", str(tmp_path / "out"), "--from", str(transcripts)]
    assert main(arguments) == 1
    printed = capsys.readouterr().out
    assert "\nvectors: not done: " in printed
    assert "\nnotes: health " in printed
    assert "\ncomparison: nothing to compare: agent, model, version are the same in every session" in printed


def test_notes_of_ones_own_are_read_in_place_of_the_sample(tmp_path, transcripts, capsys):
    (tmp_path / "notes").mkdir()
    for name in ("One", "Two", "Three"):
        (tmp_path / "notes" / f"{name}.md").write_text(f"[[Four]] is not {name} of water and stone", "utf-8")
    arguments = ["--home", str(tmp_path / "home"), "--out", str(tmp_path / "out"), "--from", str(transcripts)]
    assert main([*arguments, "--vault", str(tmp_path / "notes")]) == 0
    assert "\nvault: 3 notes, 3 links, 0 issues in notes\n" in capsys.readouterr().out


def test_a_place_that_is_not_there_is_told(tmp_path, capsys):
    arguments = ["--home", str(tmp_path / "home"), "--out", str(tmp_path / "out")]
    assert main([*arguments, "--from", str(tmp_path / "nowhere")]) == 3
    assert f"there is nothing at {tmp_path / 'nowhere'}" in capsys.readouterr().err
    assert not (tmp_path / "home").exists()


@pytest.mark.usefixtures("only_import")
def test_a_file_that_cannot_be_read_is_told_and_the_rest_is_in(folders, transcripts, capsys):
    arguments, _ = folders
    (transcripts / "loop.jsonl").symlink_to("loop.jsonl")
    assert main([*arguments, "--from", str(transcripts)]) == 1
    printed = capsys.readouterr().out
    assert "1 file could not be read:" in printed
    assert "s-one" in printed


def test_a_report_that_cannot_be_written_is_told(folders, tmp_path, transcripts, capsys):
    (tmp_path / "file").write_text("")
    arguments = [*folders[0][:2], "--out", str(tmp_path / "file"), "--from", str(transcripts)]
    assert main(arguments) == 4
    assert "cannot be written" in capsys.readouterr().err


def test_a_wrong_argument_is_refused(capsys):
    with pytest.raises(SystemExit) as stopped:
        main(["--nonsense"])
    assert stopped.value.code == 2
    assert "usage: python -m workbench.surfaces.main_job" in capsys.readouterr().err


def test_ctrl_c_is_told(folders, monkeypatch, capsys):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("workbench.ingest.importer.Importer.run", interrupt)
    assert main(folders[0]) == 130
    assert "what has landed stays" in capsys.readouterr().err


@pytest.mark.usefixtures("only_import")
def test_the_users_home_is_never_touched(tmp_path, transcripts, monkeypatch):
    monkeypatch.setenv("WORKBENCH_HOME", str(tmp_path / "users"))
    assert main(["--home", str(tmp_path / "own"), "--out", str(tmp_path / "out"), "--from", str(transcripts)]) == 0
    assert not (tmp_path / "users").exists()
    assert (tmp_path / "own" / "tables").is_dir()


def test_without_arguments_everything_stays_in_the_clone(monkeypatch):
    seen = []
    monkeypatch.setattr("workbench.surfaces.main_job.run", lambda *places: seen.extend(places) or 0)
    assert main([]) == 0
    assert seen == [ROOT / ".run" / "home", ROOT / "reports", None, None]
    assert Path(sys.modules["workbench"].__file__).is_relative_to(ROOT)
    assert all((ROOT / path).is_dir() for path in SAMPLES)
