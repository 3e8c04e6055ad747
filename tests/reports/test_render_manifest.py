"""What a report was made from."""

import json
from datetime import UTC, datetime, timedelta, timezone
from hashlib import sha256

from workbench.reports.render.manifest import Manifest, package_versions, write_report


def test_a_manifest_names_its_report_by_hash(tmp_path):
    made_at = datetime(2026, 3, 2, 10, tzinfo=timezone(timedelta(hours=1)))
    manifest = Manifest(
        "sessions", made_at, {"sessions": 3, "events": None}, {"zone": "UTC"}, seed=7, packages={"workbench": "1"}
    )
    beside = write_report(tmp_path / "new" / "sessions.html", "<p>é</p>", manifest)
    assert beside == tmp_path / "new" / "sessions.manifest.json"
    content = (tmp_path / "new" / "sessions.html").read_bytes()
    assert content == "<p>é</p>".encode()
    assert json.loads(beside.read_text("utf-8")) == {
        "report": "sessions",
        "file": "sessions.html",
        "sha256": sha256(content).hexdigest(),
        "size_bytes": 9,
        "created_at": "2026-03-02T09:00:00Z",
        "numbers": None,
        "command": None,
        "parameters": {"zone": "UTC"},
        "configuration": None,
        "seed": 7,
        "tables": {"sessions": 3, "events": None},
        "packages": {"workbench": "1"},
    }


def test_the_packages_that_numbers_depend_on_are_named():
    told = Manifest("x", datetime(2026, 1, 1, tzinfo=UTC), {}).packages
    assert told == package_versions()
    assert {"python", "workbench", "duckdb", "polars", "deltalake", "vl-convert-python"} <= told.keys()
    assert told["duckdb"]
