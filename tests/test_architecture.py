"""Imports run down the map of the design, and a few things happen in one place only."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "workbench"

LEVELS = (
    {"surfaces"},
    {"workbench"},  # the public face: `__init__`, which imports on first use
    {"bench", "widgets"},
    {"keeping", "replaying", "studying", "vaulting"},  # parts of the face
    {"vault_face"},  # one vault, as the face hands it out
    {"reports"},
    {"experiments"},
    {"agent"},
    {"ingest"},
    {
        "context",
        "memory",
        "spaces",
        "knowledge",
        "vault",
        "telemetry",
    },  # the domain: siblings know nothing of each other
    {"search"},
    {"store", "providers"},
    {"text"},
    {"config", "events"},
    {"errors"},
)
"""The map, highest first. A part imports from lower lines only; parts of one line do not import each other."""

RANK = {part: rank for rank, parts in enumerate(LEVELS) for part in parts}

LONGEST_MODULE = 600
HEAVY = ("altair", "deltalake", "duckdb", "lancedb", "marimo", "polars", "pyarrow", "pydantic", "sklearn")
PRINTING = ("surfaces",)


def modules():
    return sorted(PACKAGE.rglob("*.py"))


def dotted(path):
    """`workbench.store.delta` for workbench/store/delta.py, `workbench.store` for its `__init__`."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def part_of(module):
    """The line of the map that a module belongs to: `store` for `workbench.store.delta`."""
    return module.split(".")[1] if "." in module else module


def imports(source, module, *, is_package=False):
    """Every module that `source` imports, at whatever depth and for whatever purpose."""
    home = module.split(".") if is_package else module.split(".")[:-1]
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = home[: len(home) - node.level + 1] if node.level else []
            origin = ".".join([*base, *filter(None, [node.module])])
            if origin == "workbench":  # `from workbench import store` names a part, `import open` a name of the face
                names = (name.name for name in node.names if name.name != "__version__")  # a constant, free for all
                yield from (f"workbench.{name}" if name in RANK else origin for name in names)
            else:
                yield origin


def upward_imports(source, module, *, is_package=False):
    """The imports that run up the map or along one of its lines."""
    own = part_of(module)
    ours = (name for name in imports(source, module, is_package=is_package) if name.split(".")[0] == "workbench")
    return [name for name in ours if part_of(name) != own and RANK[part_of(name)] <= RANK[own]]


def found_in(check, *, outside=()):
    """Whatever `check(tree)` finds in the modules outside some parts of the map, by module."""
    findings = {}
    for path in modules():
        if not part_of(dotted(path)).startswith(tuple(outside)):
            lines = sorted({node.lineno for node in check(ast.parse(path.read_text(encoding="utf-8")))})
            findings |= {dotted(path): lines} if lines else {}
    return findings


def environment_reads(tree):
    for node in ast.walk(tree):
        is_attribute = isinstance(node, ast.Attribute) and node.attr in {"environ", "environb", "getenv"}
        is_import = isinstance(node, ast.ImportFrom) and node.module == "os"
        if is_attribute or (is_import and {name.name for name in node.names} & {"environ", "environb", "getenv"}):
            yield node


def printing(tree):
    for node in ast.walk(tree):
        is_print = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print"
        is_stream = isinstance(node, ast.Attribute) and node.attr in {"stdout", "stderr", "__stdout__", "__stderr__"}
        is_stream = is_stream and isinstance(node.value, ast.Name) and node.value.id == "sys"
        is_rich = isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "rich"
        is_rich |= isinstance(node, ast.Import) and any(name.name.split(".")[0] == "rich" for name in node.names)
        if is_print or is_stream or is_rich:
            yield node


def test_imports_run_down_the_map():
    upward = {}
    for path in modules():
        source = path.read_text(encoding="utf-8")
        found = upward_imports(source, dotted(path), is_package=path.name == "__init__.py")
        upward |= {dotted(path): found} if found else {}
    assert upward == {}


def test_every_part_has_its_place_on_the_map():
    assert {part_of(dotted(path)) for path in modules()} - RANK.keys() == set()


@pytest.mark.parametrize(
    ("module", "source", "upward"),
    [
        ("workbench.store.delta", "from workbench.text.ids import ulid", []),
        ("workbench.store.delta", "from workbench.store.schema import Table", []),
        ("workbench.store.delta", "from workbench.agent import turn", ["workbench.agent"]),
        ("workbench.store.delta", "def f():\n    import workbench.agent.turn", ["workbench.agent.turn"]),
        ("workbench.store.delta", "from ..providers import chat", ["workbench.providers"]),
        ("workbench.memory.recall", "from workbench.context import units", ["workbench.context"]),
        ("workbench.memory.recall", "from workbench import context, text", ["workbench.context"]),
        ("workbench.memory.recall", "from workbench import __version__", []),
        ("workbench.memory.recall", "from workbench import open", ["workbench"]),
        ("workbench.text.ids", "import polars", []),
    ],
)
def test_the_map_is_checked_in_every_form_of_import(module, source, upward):
    assert upward_imports(source, module) == upward


def test_every_package_says_what_it_holds():
    folders = {path.parent for path in modules()}
    silent = [
        str(folder.relative_to(ROOT))
        for folder in sorted(folders)
        if not (folder / "__init__.py").is_file()
        or not ast.get_docstring(ast.parse((folder / "__init__.py").read_text(encoding="utf-8")))
    ]
    assert silent == []


def test_only_config_reads_the_environment():
    assert found_in(environment_reads, outside=["config"]) == {}


def test_only_the_surfaces_print():
    assert found_in(printing, outside=PRINTING) == {}


def test_no_module_is_longer_than_a_reader_can_bear():
    lengths = {dotted(path): len(path.read_text(encoding="utf-8").splitlines()) for path in modules()}
    assert {module: length for module, length in lengths.items() if length > LONGEST_MODULE} == {}


def test_importing_workbench_loads_nothing_heavy():
    code = f"import sys, workbench; print(*(name for name in {HEAVY!r} if name in sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True, timeout=60)
    assert done.stdout.split() == []
