"""Homes and files for the import tests."""

from __future__ import annotations

import os

import pytest
from transcripts import jsonl

import workbench as wb


@pytest.fixture(autouse=True)
def _no_waiting_for_the_disk(monkeypatch):
    """Durability is tested with the store; here it only costs time."""
    monkeypatch.setattr(os, "fsync", lambda _: None)


@pytest.fixture
def bench(tmp_path):
    """A new home."""
    return wb.open(tmp_path / "home")


@pytest.fixture
def write(tmp_path):
    """Writes lines to a file below `agent/` and gives its path."""

    def write(name, *lines):
        path = tmp_path / "agent" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(jsonl(*lines))
        return path

    return write
