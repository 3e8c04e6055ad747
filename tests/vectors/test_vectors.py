"""The recorded vectors of the source systems, one test a case; see `harness.py`."""

from __future__ import annotations

from pathlib import Path

import pytest

from .harness import DATA, DEVIATIONS, HarnessError, check, load_adapter, read_rules, read_topics


def pytest_generate_tests(metafunc):
    config = metafunc.config
    try:
        topics = read_topics(Path(config.getoption("vectors") or DATA))
        rules = read_rules(Path(config.getoption("deviations") or DEVIATIONS))
    except HarnessError as error:
        raise pytest.UsageError(str(error)) from error
    params = []
    for topic in topics:
        adapter = load_adapter(topic)
        if adapter is None:
            params.append(pytest.param(topic, None, None, rules, id=topic.slug))
        else:
            pairs = zip(topic.cases, topic.ids(), strict=True)
            params += [pytest.param(topic, case, adapter, rules, id=name) for case, name in pairs]
    metafunc.parametrize(("topic", "case", "adapter", "rules"), params)


def test_vector(topic, case, adapter, rules, record_property):
    record_property("harness", "vectors")
    record_property("topic", str(topic))
    if adapter is None:
        record_property("outcome", "skipped")
        record_property("cases", len(topic.cases))
        pytest.skip(f"no adapter for {topic}")
    record_property("cases", 1)
    record_property("case", f"{topic}, {case['name']}")
    rule = check(topic, case, adapter, rules)
    record_property("outcome", "passed" if rule is None else "deviating")
    record_property("reason", "" if rule is None else rule.reason)
