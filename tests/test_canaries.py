"""Credentials in every place of every format, imported by the command line: afterwards none of them is anywhere.

Every text of the formats' samples gets a made-up credential of one of the forms that the rules know; so do keys, names
of folders, broken lines, and a session of our own log. Then everything that was written or printed is searched.
"""

from __future__ import annotations

import base64
import json
import random
import sys
from contextlib import redirect_stderr, redirect_stdout
from functools import partial
from io import StringIO
from itertools import cycle
from typing import NamedTuple

import lancedb
import pyarrow.parquet as pq
import pytest
import zstandard
from command import Done, workbench
from credentials import BENIGN, fill, key_lines
from deltalake import DeltaTable
from ingest.test_formats_contract import SAMPLES
from transcripts import SESSION, START, call, jsonl, logged, prompt, response, result, text

import workbench as wb
from workbench.ingest.formats import FORMATS
from workbench.store.archive import Archive
from workbench.store.eventlog import EventLog, session_folder
from workbench.store.eventlog_files import SessionMeta, write_meta
from workbench.surfaces.cli import main
from workbench.text.redaction import RULES
from workbench.text.redaction.views import views

STRUCTURE = {
    *("type", "role", "id", "uuid", "parentUuid", "sessionId", "session_id", "timestamp", "kind", "event_id", "status"),
    *(
        "parentId",
        "parent_event_id",
        "message_type",
        "tool_call_id",
        "tool_call_ids",
        "call_id",
        "tool_use_id",
        "actor",
    ),
    *("occurred_at", "startTime", "lastUpdated", "subtype", "requestId", "$rewindTo", "turn_id", "parent_thread_id"),
    *("forked_from_id", "thread_id", "agent_path", "started_at", "parent", "media_type", "data", "name", "record_type"),
}
"""Fields whose values hold the file together: ids, times, types."""

ONE_WORD = ["ghp_{36}", "sk-proj-{w74}T3Blbk{w80}", "hf_{l34}", "AKIA{A16}", "glpat-{w20}", "xai-{80}"]
"""Those that can stand in a name or an id."""


class Mint:
    """Makes credentials and remembers them.

    Attributes:
        secrets: All that were made: what must be nowhere.
        halves: Those of them that break off.
    """

    def __init__(self) -> None:
        self.secrets: list[str] = []
        self.halves: list[str] = []
        self._seed = 0
        self._forms = cycle([form for rule in RULES for form in rule.taken])
        self._words = cycle(ONE_WORD)

    def _made(self, form: str) -> str:
        self._seed += 1
        made, secrets = fill(form, self._seed)
        self.secrets += secrets
        return made

    def phrase(self) -> str:
        """A credential in a phrase, by the next example of the table."""
        return self._made(next(self._forms))

    def word(self) -> str:
        """A credential without any space."""
        return self._made(next(self._words))

    def half(self) -> str:
        """One that breaks off so early that no rule can know it."""
        half = fill("ghp_{36}", -self._seed)[0][:24]
        self.halves.append(half[4:])
        self.secrets.append(half[4:])
        return half


def salted(value, mint, name=""):
    """A value of JSON with a credential in every text, and in a further key of every object."""
    if isinstance(value, dict):
        inner = {key: each if key in STRUCTURE else salted(each, mint, key) for key, each in value.items()}
        structure = {key: salted(each, mint, key) for key, each in value.items() if isinstance(each, (dict, list))}
        return inner | structure | {f"more {mint.phrase()}": mint.phrase()}
    if isinstance(value, list):
        return [salted(each, mint, name) for each in value]
    if not isinstance(value, str) or name in STRUCTURE:
        return value
    if value.startswith("{"):
        return json.dumps(salted(json.loads(value), mint))
    return f"{value}\n{mint.phrase()}\n"


def salted_lines(data, mint):
    """JSON lines, salted; a broken line in the middle, one in codes, and half a line at the end."""
    lines = [json.dumps(salted(json.loads(each), mint)).encode() for each in data.splitlines()]
    hidden = "".join(f"\\u{ord(char):04x}" for char in mint.word())
    broken = [b'{"broken": ' + json.dumps(mint.phrase()).encode(), f'{{"broken": "{hidden}"'.encode()]
    return jsonl(*lines[:1], *broken, *lines[1:]) + f'{{"type": "user", "text": "with {mint.half()}'.encode()


def salted_markdown(data, mint):
    """Markdown with a credential behind every line that has words, marked as that line is."""
    lines = []
    for each in data.decode().split("\n"):
        lines.append(each)
        if each.startswith("#### /"):  # a command has its line to itself
            continue
        mark = next((mark for mark in ("#### ", "> ") if each.startswith(mark)), "")
        if each[:1] in {"#", ">", "`"} or (each[:1].isalpha() and len(each) > 4):
            lines += [f"{mark}{line}{'  ' * bool(mark)}" for line in mint.phrase().split("\n")]
    return "\n".join(lines).encode()


def write_sample(folder, number, sample, mint=None):
    """Write a sample with ids of its own, salted where there is a mint."""
    name, data = sample.path, sample.data.replace(SESSION.encode(), SESSION[:-3].encode() + f"{100 + number}".encode())
    if mint is not None:
        name = f"of-{mint.word()}/{name}"
        is_markdown, is_object = sample.module in ("aider", "specstory"), sample.growth == "object"
        data = (
            salted_markdown(data, mint)
            if is_markdown
            else json.dumps(salted(json.loads(data), mint), indent=1).encode()
            if is_object
            else salted_lines(data, mint)
        )
    path = folder / f"{number:02}-{sample.module}" / name
    path.parent.mkdir(parents=True)
    path.write_bytes(data)


def further_sessions(folder, mint):
    """What the samples do not have: failures, nested JSON, numbered lines of a key, PowerShell's encoding."""
    key = key_lines(seed=4000)
    mint.secrets += key[1:-1]
    session = SESSION[:-3] + "900"
    listing = "\n".join(f"{number:6}→{each}" for number, each in enumerate(key, 1))
    failed = prompt(
        "f3",
        [result("tf", f"Error: connection refused: {mint.phrase()}", is_error=True)],
        session=session,
        toolUseResult=f"Error: {mint.phrase()}",
        cwd=f"/srv/{mint.word()}/demo",
        gitBranch=f"fix/{mint.word()}",
        slug=mint.phrase(),
    )
    lines = [
        prompt(
            "f1", f"<command-name>/login</command-name><command-args>{mint.phrase()}</command-args>", session=session
        ),
        response("f2", "msg_f", text(json.dumps({"env": json.dumps({"k": mint.phrase()})})), session=session),
        failed,
        {"type": "summary", "summary": mint.phrase(), "leafUuid": "z"},
        response("f5", "msg_h", call("th", command="env"), session=session),
        prompt("f6", [result("th", "\n".join(mint.phrase() for rule in RULES for _ in rule.taken))], session=session),
        response("f4", "msg_g", text(listing), session=session, isApiErrorMessage=True, error=mint.phrase()),
    ]
    path = folder / "projects" / f"-srv-{mint.word()}" / f"{session}.jsonl"
    path.parent.mkdir(parents=True)
    path.write_bytes(jsonl(*lines))
    wide = SESSION[:-3] + "901"
    data = jsonl(prompt("w1", f"Wide {mint.phrase()}", session=wide)).decode()
    (path.parent / f"{wide}.jsonl").write_bytes(data.replace("\n", "\r\n").encode("utf-16"))
    return [session, wide]


OWN = SESSION[:-3] + "950"


def write_own_log(home, mint):
    """A session run here: its log, what is said of it, and a torn end that the writer sets aside."""
    wb.open(home)
    folder = session_folder(home, OWN)
    write_meta(folder, SessionMeta(OWN, START, f"/srv/{mint.word()}", f"agent {mint.phrase()}"))
    with EventLog(folder, OWN) as log:
        log.append("user_message", "user", {"text": mint.phrase(), mint.phrase(): [{"deep": mint.phrase()}]}, turn=1)
        log.append("tool_call", "agent", {"tool": "shell", "args": {"command": mint.phrase()}}, turn=1)
        log.append("agent_message", "agent", {"text": "ok"}, turn=1, agent_id=mint.word(), event_id=mint.word())
    with (folder / "events.jsonl").open("ab") as file:
        file.write(json.dumps(logged(9, session=OWN, payload={"text": mint.phrase()})).encode()[:-1])
    with EventLog(folder, OWN) as log:
        log.append("agent_message", "agent", {"text": f"went on with {mint.phrase()}"}, turn=1)
        assert len(log.quarantined()) == 1


class Salted(NamedTuple):
    """A home of salted sessions.

    Attributes:
        home: Where it is.
        files: The salted files.
        mint: Whose credentials they hold.
        said: What every command printed.
    """

    home: object
    files: object
    mint: Mint
    said: dict[str, str]


@pytest.fixture(scope="module")
def salted_home(tmp_path_factory):
    """Everything imported by the real command, and every other command asked."""
    root = tmp_path_factory.mktemp("canaries")
    home, files, mint = root / "home", root / "agent", Mint()
    for number, sample in enumerate(SAMPLES):
        write_sample(files, number, sample, mint)
    further_sessions(files, mint)
    odd = files / f"notes-{mint.word()}.md"
    odd.write_text(f"# Notes\n{mint.phrase()}\n")
    loop = files / f"loop-{mint.word()}"
    loop.symlink_to(loop)
    write_own_log(home, mint)
    said = {}

    def run(*arguments, code, ask=in_process):
        done = ask(*arguments)
        assert done.code == code, done
        said[" ".join(map(str, arguments))] = done.out + done.err
        return done

    at_home, real = ("--home", home), partial(workbench, cwd=root)
    gone, blocked = files / f"gone-{mint.word()}.jsonl", root / mint.word()
    blocked.write_text("")
    first = run("ingest", files, gone, *at_home, "--json", code=1, ask=real)
    assert [item["reason"] for item in first.json["skipped"]] == ["not a transcript of a known format"]
    assert len(first.json["errors"]) == 2
    run("ingest", files, *at_home, code=1)
    run("show", mint.word(), *at_home, code=3, ask=real)
    run("sessions", "--home", blocked, code=4, ask=real)
    run("sql", f"select {mint.word()} from events", *at_home, code=2)
    run("sql", "--file", root / mint.word(), *at_home, code=2)
    run("redact", "--test", root / mint.word(), code=3)
    run("redact", "--test", odd, code=1)
    run("redact", "--test", odd, "--json", code=1)
    for each in salted_files(files)[::4]:
        run("redact", "--test", each, code=1)
    run("usage", "--by", "session", *at_home, code=0)
    run("sql", "select * from events", *at_home, "--json", code=0)
    run("sql", "select * from import_issues", *at_home, code=0)
    run("search", mint.word(), *at_home, "--json", code=0)
    run("embed", *at_home, code=0, ask=partial(in_process, WORKBENCH_EMBEDDING__MODEL="lsa"))
    run("report", "sessions", *at_home, "--out", root / "report", code=0)
    said["pages"] = "".join(path.read_text() for path in (root / "report").iterdir())
    sessions = [row["session_id"] for row in run("sessions", *at_home, "--json", code=0).json]
    said |= {session_id: wb.open(home).session_markdown(session_id) for session_id in sessions}
    run("show", sessions[0], "--format", "md", *at_home, code=0)
    run("show", OWN, *at_home, code=0)
    run("show", OWN, "--json", *at_home, code=0)
    return Salted(home, files, mint, said)


def in_process(*arguments, **variables):
    """The command in this process: the same as the real one, without the second that a new process takes."""
    out, err = StringIO(), StringIO()
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(out), redirect_stderr(err):
        for name, value in variables.items():
            patch.setenv(name, value)
        patch.setattr(sys, "argv", ["workbench", *map(str, arguments)])
        with pytest.raises(SystemExit) as stopped:
            main()
    return Done(stopped.value.code or 0, out.getvalue(), err.getvalue())


def salted_files(folder):
    """All files that are transcripts."""
    return sorted(path for path in folder.rglob("*") if path.is_file() and not path.name.startswith("notes-"))


def as_text(value):
    """A value of a table, nested or not, as text without any escape."""
    if isinstance(value, dict):
        return "\n".join(f"{as_text(key)}\n{as_text(each)}" for key, each in value.items())
    return "\n".join(map(as_text, value)) if isinstance(value, list) else str(value)


def found(secrets, texts):
    """Which secrets stand in which texts, as they are or behind escapes."""
    hits = []
    for where, content in texts.items():
        read = content + "\n".join(view.text for view in views(content)) if "\\" in content else content
        hits += [(where, secret) for secret in secrets if secret in read]
    return hits


def tables(home):
    """Every column of every row of every table."""
    folders = (home / "tables").iterdir()
    return {folder.name: as_text(DeltaTable(folder).to_pyarrow_table().to_pylist()) for folder in folders}


def contents(home):
    """Every file of a home: its bytes, and what is packed in them."""
    texts = {}
    for path in home.rglob("*"):
        if path.is_file():
            data = path.read_bytes()
            texts[f"bytes of {path}"] = data.decode("latin-1")
            if path.suffix == ".parquet":
                texts[str(path)] = as_text(pq.read_table(path).to_pylist())
            if path.suffix == ".zst":
                texts[str(path)] = zstandard.ZstdDecompressor().decompress(data).decode("utf-8", "replace")
    return texts


def test_no_credential_is_in_any_column_of_any_table(salted_home):
    texts = tables(salted_home.home)
    assert {"events", "turns", "tool_calls", "import_issues", "sources", "sessions", "blobs"} <= texts.keys()
    assert found(salted_home.mint.secrets, texts) == []


def test_no_credential_is_in_any_column_of_the_search_index(salted_home):
    database = lancedb.connect(salted_home.home / "vectors")
    names = database.list_tables().tables
    rows = {name: database.open_table(name).to_arrow().to_pylist() for name in names}
    assert len(names) == 3  # texts, whose they are, and the vectors of one model
    assert all(rows.values())
    assert found(salted_home.mint.secrets, {name: as_text(found_rows) for name, found_rows in rows.items()}) == []


def test_no_credential_is_in_any_file_of_the_home(salted_home):
    texts = contents(salted_home.home)
    names = {path.name for path in salted_home.home.rglob("*")}
    assert {"events.jsonl", "quarantine.jsonl", "meta.json"} <= names
    assert sum(where.endswith(".zst") for where in texts) == 2 * (len(SAMPLES) + 2)
    assert found(salted_home.mint.secrets, texts) == []


def test_no_command_prints_a_credential_not_even_in_an_error(salted_home):
    said = {name: printed for name, printed in salted_home.said.items() if printed}
    assert len(said) == len(salted_home.said)
    assert found(salted_home.mint.secrets, said) == []


def test_without_redaction_the_same_search_finds_them(salted_home, tmp_path):
    """Otherwise it would be no wonder that nothing is found."""
    bench = wb.open(tmp_path / "home", redaction={"enabled": False})
    bench.ingest(salted_home.files)
    made = "\n".join(path.read_text("utf-8", "replace") for path in salted_files(salted_home.files))
    secrets = [secret for secret in salted_home.mint.secrets if secret in made]
    in_tables = {secret for _, secret in found(secrets, tables(bench.home.root))}
    anywhere = {secret for _, secret in found(secrets, contents(bench.home.root))}
    assert len(in_tables) > 500
    assert {*secrets} - anywhere == {*salted_home.mint.halves} & {*secrets}


def test_all_that_was_salted_is_in(salted_home, tmp_path):
    for number, sample in enumerate(SAMPLES):
        write_sample(tmp_path / "agent", number, sample)
    plain = wb.open(tmp_path / "home")
    plain.ingest(tmp_path / "agent")
    bench = wb.open(salted_home.home)
    counts = "select format, count(*) from events join sources using (source_id) group by format"
    events, expected = (dict(each.sql(counts).rows()) for each in (bench, plain))
    assert expected.keys() == set(FORMATS)
    assert [name for name in FORMATS if events[name] < expected[name]] == []
    told = as_text(
        [*bench.sql("select payload from events").rows(), *bench.sql("select detail from import_issues").rows()]
    )
    assert [rule.name for rule in RULES if f"[REDACTED:{rule.name}]" not in told] == []
    paths = bench.sql("select path from sources where not contains(path, '[REDACTED:')")["path"].to_list()
    assert [path for path in paths if "/sessions/" not in path] == []


def test_an_unchanged_file_whose_path_holds_a_credential_is_known_again(salted_home):
    again = wb.open(salted_home.home).ingest(salted_home.files)
    assert (again.sessions, again.unchanged) == (0, len(SAMPLES) + 2)


# -- what only looks like a credential --------------------------------------------------------------------------------


def test_what_only_looks_like_a_credential_stays_as_it_is(tmp_path):
    picture = base64.b64encode(random.Random(7).randbytes(300_000)).decode()
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": picture}}
    lines = [prompt(f"b{number}", each, seconds=number) for number, each in enumerate(BENIGN.values())]
    calls = [
        prompt("r1", [result("t1", json.dumps(BENIGN)), image], seconds=200, toolUseResult={"stdout": BENIGN["git"]}),
        response("r2", "msg_r", text(BENIGN["minified"]), seconds=201),
    ]
    path = tmp_path / "agent" / f"{SESSION}.jsonl"
    path.parent.mkdir()
    path.write_bytes(jsonl(*lines, *calls))
    done = workbench("ingest", path, "--home", tmp_path / "home", "--json", cwd=tmp_path)
    assert (done.code, done.json["issues"]) == (0, 0)
    bench = wb.open(tmp_path / "home")
    asked = bench.sql("select text from turns where role = 'user' order by sequence_number")["text"].to_list()
    assert asked[: len(BENIGN)] == [each.strip() for each in BENIGN.values()]
    archive = Archive(bench.home.archive)
    assert [archive.read(sha256) for sha256 in archive.names()] == [path.read_bytes()]
    assert (
        bench.sql("select count(*) from events where contains(payload, '[REDACTED')").item() == 2
    )  # the text that quotes it
