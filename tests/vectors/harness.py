"""Run recorded inputs through the product and compare what comes out with what should.

A vector file is `<system>/<topic>.json` under the vectors folder. Its adapter is `adapters/<system>__<topic>.py`, every
character other than a letter or digit written as an underscore, found by that name alone:

    run(case_input)             what the product makes of the input, as plain JSON values; where that part of the
                                product does not exist yet, `pytest.skip` with the reason
    compare(actual, expected)   optional; raises AssertionError; `assert_equal` where it is missing
    prepare(cases)              optional; given all cases before the first runs, for input that they share
    others                      functions that deviation rules name

The right value of a case is, in this order: what the first fitting rule of `deviations.toml` says, its `recommended`,
its `expected`.
"""

from __future__ import annotations

import copy
import importlib
import json
import math
import re
import tomllib
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from types import ModuleType

HERE = Path(__file__).parent
DATA = HERE / "data"
ADAPTERS = HERE / "adapters"
DEVIATIONS = HERE / "deviations.toml"

TOLERANCE = 1e-9  # relative and absolute; the systems compute in doubles, as we do


class HarnessError(Exception):
    """The vectors folder or the rules cannot be used."""


@dataclass(frozen=True)
class Topic:
    """One vector file."""

    system: str
    name: str
    cases: list[dict[str, Any]]

    def __str__(self) -> str:
        return f"{self.system}/{self.name}"

    @property
    def slug(self) -> str:
        return f"{slug(self.system)}__{slug(self.name)}"

    def ids(self) -> list[str]:
        """Name each case's test; a name that recurs gets a number."""
        return [f"{self.slug}__{name}" for name in unique(slug(case["name"]) for case in self.cases)]


@dataclass(frozen=True)
class Rule:
    """Why and where the right value is not the recorded one.

    Attributes:
        topic: `<system>/<topic>`.
        reason: The line of a spec, a seed or the design that says so.
        name: A case name, or a pattern with `*`, `?`, `[...]`.
        input: Paths into the case's input, dotted, with the value that each must have.
        when: A function of the adapter, from the case's input to a truth value.
        value: The right value, in a list of one; empty where `function` gives it.
        function: A function of the adapter, from the case's input to the right value.
    """

    topic: str
    reason: str
    name: str | None = None
    input: dict[str, Any] = field(default_factory=dict)
    when: str | None = None
    value: tuple[Any, ...] = ()
    function: str | None = None

    def fits(self, topic: Topic, case: dict[str, Any], adapter: ModuleType) -> bool:
        """Tell whether all conditions of the rule hold for a case."""
        name = case["name"]
        return (
            self.topic == str(topic)
            and (self.name is None or self.name == name or fnmatchcase(name, self.name))
            and all(list(lookup(case["input"], path)) == [wanted] for path, wanted in self.input.items())
            and (self.when is None or bool(getattr(adapter, self.when)(copy.deepcopy(case["input"]))))
        )

    def right_value(self, case: dict[str, Any], adapter: ModuleType) -> Any:
        """Give what the product should answer."""
        if self.function is None:
            return self.value[0]
        return getattr(adapter, self.function)(copy.deepcopy(case["input"]))


def read_topics(folder: Path) -> list[Topic]:
    """Read every vector file under a folder, in the order of their names."""
    files = sorted(folder.glob("*/*.json"))
    if not files:
        raise HarnessError(f"no vectors in {folder}: expected files <system>/<topic>.json")
    return [Topic(file.parent.name, file.stem, json.loads(file.read_text(encoding="utf-8"))["cases"]) for file in files]


def load_adapter(topic: Topic) -> ModuleType | None:
    """Import the adapter of a topic; None where there is none."""
    if not (ADAPTERS / f"{topic.slug}.py").exists():
        return None
    adapter = importlib.import_module(f"{__package__}.adapters.{topic.slug}")
    if hasattr(adapter, "prepare"):
        adapter.prepare(copy.deepcopy(topic.cases))
    return adapter


def read_rules(file: Path) -> list[Rule]:
    """Read the deviation rules, and refuse those that lack a reason, a condition or a right value."""
    rules = []
    for number, entry in enumerate(tomllib.loads(file.read_text(encoding="utf-8")).get("deviation", []), start=1):
        where = f"{file.name}, rule {number}"
        unknown = sorted(entry.keys() - Rule.__dataclass_fields__.keys())
        if unknown:
            raise HarnessError(f"{where}: unknown keys {unknown}")
        for key in ("topic", "reason"):
            if not str(entry.get(key, "")).strip():
                raise HarnessError(f"{where}: {key} is missing")
        if not entry.keys() & {"name", "input", "when"}:
            raise HarnessError(f"{where}: no condition; give name, input or when")
        if ("value" in entry) == ("function" in entry):
            raise HarnessError(f"{where}: give either value or function")
        if "value" in entry and "name" not in entry:
            raise HarnessError(f"{where}: a fixed value needs the name of its case; for many cases name a function")
        value = (entry.pop("value"),) if "value" in entry else ()
        rules.append(Rule(**entry, value=value))
    return rules


def check(topic: Topic, case: dict[str, Any], adapter: ModuleType, rules: Iterable[Rule] = ()) -> Rule | None:
    """Run one case.

    Returns:
        The rule by which the right answer differs from the recorded one; None where nothing differs.

    Raises:
        AssertionError: The product's answer is not the right one.
    """
    compare = getattr(adapter, "compare", assert_equal)
    actual = adapter.run(copy.deepcopy(case["input"]))
    rule = next((rule for rule in rules if rule.fits(topic, case, adapter)), None)
    if rule is not None:
        right = rule.right_value(case, adapter)
        compare(actual, right)
        return None if agree(compare, right, case["expected"]) else rule
    if "recommended" in case:
        compare_recommended(actual, case["recommended"], compare)
    else:
        compare(actual, case["expected"])
    return None


def compare_recommended(actual: Any, recommended: Any, compare: Callable[[Any, Any], None]) -> None:
    """Compare with a case's `recommended`.

    One without `why` is the whole answer. One with it may be partial: `value` is the whole answer, `contains` lists
    texts within it, `field` holds some of its fields; without these, whatever stands beside `why` are fields.
    """
    if not (isinstance(recommended, dict) and "why" in recommended):
        compare(actual, recommended)
    elif "value" in recommended:
        compare(actual, recommended["value"])
    elif "contains" in recommended:
        missing = [text for text in recommended["contains"] if text not in actual]
        assert not missing, f"lacks {missing!a}: {actual!a}"
    else:
        fields = recommended.get("field", {key: value for key, value in recommended.items() if key != "why"})
        assert isinstance(actual, dict), f"expected an object with {sorted(fields)}, got {actual!a}"
        compare({key: actual[key] for key in fields if key in actual}, fields)


def assert_equal(actual: Any, expected: Any, path: str = "$") -> None:
    """Compare two JSON values; numbers within `TOLERANCE`, whole ones exactly, a truth value is no number.

    Raises:
        AssertionError: They differ; the message says where.
    """
    difference = f"{path}: got {actual!a}, expected {expected!a}"
    if isinstance(expected, dict):
        assert isinstance(actual, dict), difference
        missing, extra = sorted(expected.keys() - actual.keys()), sorted(actual.keys() - expected.keys())
        assert not missing, f"{path}: lacks {missing!a}"
        assert not extra, f"{path}: has {extra!a} besides"
        for key, value in expected.items():
            assert_equal(actual[key], value, f"{path}.{key}")
    elif isinstance(expected, list | tuple):
        assert isinstance(actual, list | tuple), difference
        for place, (one, other) in enumerate(zip(actual, expected, strict=False)):
            assert_equal(one, other, f"{path}[{place}]")
        assert len(actual) == len(expected), f"{path}: got {len(actual)} items, expected {len(expected)}"
    elif is_number(expected):
        assert is_number(actual), difference
        whole = isinstance(expected, int) and isinstance(actual, int)
        same = actual == expected or (
            not whole and math.isclose(actual, expected, rel_tol=TOLERANCE, abs_tol=TOLERANCE)
        )
        assert same or (math.isnan(actual) and math.isnan(expected)), difference
    else:
        assert type(actual) is type(expected), difference
        assert actual == expected, difference


def agree(compare: Callable[[Any, Any], None], one: Any, other: Any) -> bool:
    """Tell whether two values are the same to an adapter's `compare`."""
    try:
        compare(one, other)
    except AssertionError:
        return False
    return True


def is_number(value: Any) -> bool:
    """Tell numbers from truth values, which Python counts among them."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def lookup(value: Any, path: str) -> Iterator[Any]:
    """Yield what lies at a dotted path; nothing where it leads nowhere."""
    for step in path.split("."):
        if isinstance(value, dict) and step in value:
            value = value[step]
        elif isinstance(value, list) and step.isdecimal() and int(step) < len(value):
            value = value[int(step)]
        else:
            return
    yield value


def slug(text: str) -> str:
    """Write a name with ASCII letters, digits and underscores only."""
    return re.sub(r"[^A-Za-z0-9_]", "_", text)


def unique(names: Iterable[str]) -> list[str]:
    """Number the names that have occurred before: a, b, a_2."""
    taken: set[str] = set()
    result = []
    for name in names:
        chosen, number = name, 1
        while chosen in taken:
            number += 1
            chosen = f"{name}_{number}"
        taken.add(chosen)
        result.append(chosen)
    return result
