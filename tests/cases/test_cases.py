"""The field cases, one test each; see `harness.py`."""

from __future__ import annotations

import copy
from pathlib import Path

import pytest

from .harness import DATA, HarnessError, load_adapter, read_topics, write_files


def pytest_generate_tests(metafunc):
    try:
        topics = read_topics(Path(metafunc.config.getoption("cases") or DATA))
    except HarnessError as error:
        raise pytest.UsageError(str(error)) from error
    params = []
    for topic in topics:
        adapter = load_adapter(topic)
        if adapter is None:
            params.append(pytest.param(topic, None, None, id=topic.slug))
        else:
            pairs = zip(topic.cases, topic.ids(), strict=True)
            params += [pytest.param(topic, case, adapter, id=name) for case, name in pairs]
    metafunc.parametrize(("topic", "case", "adapter"), params)


def test_case(topic, case, adapter, tmp_path, record_property):
    record_property("harness", "cases")
    record_property("topic", str(topic))
    if adapter is None:
        record_property("outcome", "skipped")
        record_property("cases", len(topic.cases))
        pytest.skip(f"no adapter for {topic}")
    record_property("cases", 1)
    folder, home = tmp_path / "files", tmp_path / "home"
    folder.mkdir()
    home.mkdir()
    write_files(case["files"], folder)
    adapter.check(copy.deepcopy(case), folder, home)
    record_property("outcome", "passed")
