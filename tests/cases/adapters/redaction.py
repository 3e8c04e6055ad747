"""Field cases of redaction.

A case's file is looked through by `workbench redact --test`, and imported: each of its lines as a prompt of a session
of its own. What is gone has to be gone from the redacted file, the findings, the tables and the archive; what stays has
to stay as it is.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

import workbench as wb
from cases.landed import PROSE
from workbench.bench import Workbench
from workbench.ingest.importer import Importer
from workbench.store.archive import Archive
from workbench.surfaces.cli import redact as command  # noqa: F401  (adds the command)
from workbench.surfaces.cli.app import app
from workbench.text.redaction import redact

KEYS = frozenset({"changed_lines", "unchanged_lines", "gone_everywhere", "still_there"})


def check(case: dict[str, Any], folder: Path, home: Path) -> None:
    """Look through the case's file, import its lines, and compare all that it expects."""
    expected = {key: value for key, value in case["expected"].items() if key not in PROSE}
    assert expected.keys() <= KEYS, f"no rule looks up {sorted(expected.keys() - KEYS)}"
    (path,) = (path for path in folder.rglob("*") if path.is_file())
    lines = path.read_text("utf-8").splitlines()
    clean = redact(path.read_bytes()).decode().splitlines()
    prompts, stored = imported(lines, folder / "agent", home)
    assert len(clean) == len(lines)
    assert prompts == clean
    changed = [number for number, (old, new) in enumerate(zip(lines, clean, strict=True), start=1) if old != new]
    shown = looked_through(path)
    assert sorted({finding["line"] for finding in shown["findings"]}) == changed
    assert shown["lines"] == len(lines)
    wrong = {
        "changed_lines": changed != expected.get("changed_lines", changed),
        "unchanged_lines": set(changed) & set(expected.get("unchanged_lines", [])),
        "gone_everywhere": [
            text
            for text in expected.get("gone_everywhere", [])
            if any(text in place for place in ("\n".join(clean), json.dumps(shown), stored))
        ],
        "still_there": [text for text in expected.get("still_there", []) if text not in "\n".join(clean)],
    }
    assert not any(wrong.values()), f"{wrong}: {clean}"


def looked_through(path: Path) -> dict[str, Any]:
    """What the command shows of a file."""
    done = CliRunner().invoke(app, ["redact", "--test", str(path), "--json"])
    shown: dict[str, Any] = json.loads(done.output)
    assert done.exit_code == (1 if shown["findings"] else 0), done.output
    assert shown.keys() == {"file", "lines", "findings"}
    assert all(finding.keys() == {"line", "rule", "excerpt"} for finding in shown["findings"])
    return shown


def imported(lines: list[str], agent: Path, home: Path) -> tuple[list[str], str]:
    """Each line as the prompt of a session: what the archive holds of it, and all that is stored anywhere."""
    agent.mkdir()
    for number, line in enumerate(lines, start=1):
        record = {
            "type": "user",
            "sessionId": f"00000000-0000-4000-8000-{number:012}",
            "uuid": f"00000000-0000-4000-9000-{number:012}",
            "parentUuid": None,
            "timestamp": f"2026-03-02T09:{number:02}:00.000Z",
            "cwd": "/srv/work/demo",
            "version": "2.1.40",
            "message": {"role": "user", "content": line},
        }
        (agent / f"{record['sessionId']}.jsonl").write_text(json.dumps(record) + "\n", "utf-8")
    bench = wb.open(home)
    result = Importer(bench._lake, redactor=redact).run([agent])
    assert (result.sessions, result.skipped, result.errors) == (len(lines), [], [])
    sources = archived(bench)
    prompts = {record["sessionId"]: record["message"]["content"] for record in map(json.loads, sources)}
    return [prompts[session_id] for session_id in sorted(prompts)], "\n".join([*sources, *rows(bench)])


def archived(bench: Workbench) -> list[str]:
    """Every archived content."""
    archive = Archive(bench.home.archive)
    return [archive.read(path.stem).decode() for path in bench.home.archive.rglob("*.zst")]


def rows(bench: Workbench) -> list[str]:
    """Every row of every table."""
    tables = bench.sql("select table_name from information_schema.tables")["table_name"].to_list()
    found = [bench.sql(f'select * from "{name}"').rows() for name in tables]
    assert any(found)
    return [str(row) for table in found for row in table]
