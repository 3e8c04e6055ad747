"""How long agents keep their files: defaults, settings, settings that are none."""

import json

import pytest

from workbench.ingest.retention import retention_of


@pytest.mark.parametrize(
    ("settings", "days"),
    [
        ({"cleanupPeriodDays": 7}, 7),
        ({"cleanupPeriodDays": 99999}, 99999),
        ({"cleanupPeriodDays": 0}, 30),  # refused by the agent
        ({"cleanupPeriodDays": True}, 30),
        ({"cleanupPeriodDays": "7"}, 30),
        ({}, 30),
        ([], 30),
        ("{", 30),
        (None, 30),
    ],
)
def test_claude_code_deletes_after_its_setting_else_after_thirty_days(tmp_path, settings, days):
    file = tmp_path / "settings.json"
    if settings is not None:
        file.write_text(settings if isinstance(settings, str) else json.dumps(settings))
    told = retention_of(tmp_path / "projects")
    is_set = days != 30
    assert told == ("claude-code", days, str(file) if is_set else "default")


@pytest.mark.parametrize(
    ("told", "days"),
    [
        ({"maxAge": "24h"}, 1),
        ({"maxAge": "7d"}, 7),
        ({"maxAge": "2w"}, 14),
        ({"maxAge": "1m"}, 30),
        ({"maxAge": "soon"}, 30),
        ({"enabled": False, "maxAge": "7d"}, None),
        ({"enabled": True}, 30),
        ("odd", 30),
    ],
)
def test_gemini_cli_deletes_after_its_setting_unless_that_is_off(tmp_path, told, days):
    folder = tmp_path / ".gemini" / "tmp"
    folder.mkdir(parents=True)
    (tmp_path / ".gemini" / "settings.json").write_text(json.dumps({"general": {"sessionRetention": told}}))
    assert retention_of(folder)[:2] == ("gemini-cli", days)


@pytest.mark.parametrize(
    ("folder", "agent"),
    [
        (".codex/sessions", "codex"),
        ("elsewhere/archived_sessions", "codex"),
        (".pi/agent/sessions", "pi"),
        (".praana/sessions", "praana"),
    ],
)
def test_the_others_document_no_deletion(tmp_path, folder, agent):
    assert retention_of(tmp_path / folder) == (agent, None, "default")
