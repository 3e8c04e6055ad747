import json
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.config import Config, ConfigWarning, ExplainRow, config_hash, load_config, resolve_home
from workbench.config.checking import allowed, checked
from workbench.config.layers import merge
from workbench.config.records import MASK, Sourced, is_secret_name
from workbench.config.tree import groups, specs
from workbench.errors import ConfigError


class Place:
    """A home and a project on disk, and a shorthand to load from them."""

    def __init__(self, root):
        self.home = root / "home"
        self.project = root / "project"
        self.home.mkdir()
        self.project.mkdir()

    def load(self, overrides=None, environ=None, **more):
        return load_config(self.home, self.project, overrides, environ or {}, **more)


@pytest.fixture
def place(tmp_path):
    return Place(tmp_path)


def told(config):
    return [str(warning) for warning in config.warnings]


# --- Import and home


def test_importing_the_package_loads_neither_models_nor_msgspec():
    code = "import sys, workbench.config as c; c.resolve_home('/x', {}); print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(run.stdout.split())
    assert not loaded & {"pydantic", "pydantic_settings", "msgspec", "platformdirs", "workbench.config.tree"}


def test_the_face_lists_what_it_promises_and_no_more():
    import workbench.config as face

    assert face.__all__ == sorted(face.__all__)
    assert face.Config is Config
    with pytest.raises(AttributeError, match="no attribute 'Settings'"):
        face.Settings  # noqa: B018


def test_home_is_the_argument_else_the_variable_else_the_platform_folder(tmp_path):
    assert resolve_home(tmp_path / "a", {"WORKBENCH_HOME": str(tmp_path / "b")}) == tmp_path / "a"
    assert resolve_home(None, {"WORKBENCH_HOME": str(tmp_path / "b")}) == tmp_path / "b"
    assert resolve_home(None, {"WORKBENCH_HOME": "~/bench"}) == Path.home() / "bench"
    assert resolve_home(None, {"WORKBENCH_HOME": "bench"}) == Path.cwd() / "bench"
    assert resolve_home(None, {"WORKBENCH_HOME": "  "}).name == "workbench"
    assert resolve_home(None, {}).is_absolute()


def test_a_configuration_knows_its_home(place):
    assert place.load().home == place.home
    assert Config().home is None


# --- Layers


def test_each_layer_wins_over_the_ones_before_it(place):
    sources = {
        place.home / "config.json": '{"turn": {"max_steps": 2}}',
        place.home / "config.toml": "[turn]\nmax_steps = 3",
        place.project / "workbench.config.json": '{"turn": {"max_steps": 4}}',
        place.project / "workbench.toml": "[turn]\nmax_steps = 5",
    }
    seen = [place.load().turn.max_steps]
    for file, text in sources.items():
        file.write_text(text)
        seen.append(place.load().turn.max_steps)
    environ = {"WORKBENCH_TURN__MAX_STEPS": "6"}
    seen.append(place.load(environ=environ).turn.max_steps)
    seen.append(place.load({"turn": {"max_steps": 7}}, environ).turn.max_steps)
    assert seen == [25, 2, 3, 4, 5, 6, 7]


def test_tables_are_merged_and_lists_are_replaced(place):
    (place.home / "config.toml").write_text(
        '[project_detection]\nmanual_languages = ["Python", "Rust"]\nnote_max_chars = 500\n'
    )
    (place.project / "workbench.toml").write_text('[project_detection]\nmanual_languages = ["Go"]\n')
    detection = place.load().project_detection
    assert detection.manual_languages == ("Go",)
    assert detection.note_max_chars == 500


def test_null_counts_as_not_given(place):
    (place.home / "config.json").write_text('{"turn": {"max_steps": 9}, "compiler": null}')
    (place.project / "workbench.config.json").write_text('{"turn": {"max_steps": null}}')
    config = place.load()
    assert config.turn.max_steps == 9
    assert config.warnings == ()


def test_arguments_may_be_a_tree_or_dotted_keys(place):
    tree = place.load({"context_engine": {"scoring": {"w_pin": 2}}})
    dotted = place.load({"context_engine.scoring.w_pin": 2})
    assert tree.context_engine.scoring.w_pin == dotted.context_engine.scoring.w_pin == 2.0


def test_a_byte_order_mark_does_no_harm(place):
    (place.home / "config.toml").write_bytes(b"\xef\xbb\xbf[turn]\nmax_steps = 3\n")
    (place.project / "workbench.config.json").write_bytes(b'\xef\xbb\xbf{"turn": {"result_chars": 3}}')
    config = place.load()
    assert (config.turn.max_steps, config.turn.result_chars, config.warnings) == (3, 3, ())


SETTINGS = st.dictionaries(st.sampled_from("abc"), st.integers(0, 3), max_size=3)
LAYERS = SETTINGS.map(lambda layer: {key: Sourced(value, "file") for key, value in layer.items()})


@given(LAYERS, LAYERS, LAYERS)
def test_it_does_not_matter_which_two_layers_are_merged_first(one, two, three):
    assert merge(merge(one, two), three) == merge(one, merge(two, three))


@given(LAYERS, LAYERS)
def test_the_later_layer_wins_and_nothing_is_lost(lower, upper):
    merged = merge(lower, upper)
    assert merged.keys() == lower.keys() | upper.keys()
    assert all(merged[key] == (upper[key] if key in upper else lower[key]) for key in merged)


def test_tables_under_unknown_keys_are_merged_too():
    lower = {"x": Sourced({"a": 1, "b": {"c": 1}}, "low")}
    upper = {"x": Sourced({"b": {"d": 2}}, "high")}
    assert merge(lower, upper) == {"x": Sourced({"a": 1, "b": {"c": 1, "d": 2}}, "high")}


# --- Variables


@pytest.mark.parametrize(
    ("name", "text", "key", "value"),
    [
        ("WORKBENCH_COMPILER__TOKEN_BUDGET", "50000", "compiler.token_budget", 50000),
        ("WORKBENCH_CONTEXT_ENGINE__SCORING__W_PIN", "2", "context_engine.scoring.w_pin", 2.0),
        ("WORKBENCH_CONTEXT_ENGINE__ENABLED", "Off", "context_engine.enabled", False),
        ("WORKBENCH_EDIT__CONFIRM", "yes", "edit.confirm", True),
        ("WORKBENCH_EDIT__CONFIRM", "1", "edit.confirm", True),
        ("WORKBENCH_LLM__MODEL", "4711", "llm.model", "4711"),
        ("WORKBENCH_LLM__CONTEXT_WINDOW", "32000", "llm.context_window", 32000),
        ("WORKBENCH_SHELL__ALLOWED_PATHS", '["/a", "/b"]', "shell.allowed_paths", ["/a", "/b"]),
        ("WORKBENCH_VAULT__PATH", "/notes", "vault.path", "/notes"),
        ("WORKBENCH_UI__TOOL_ICONS", "ascii", "ui.tool_icons", "ascii"),
        ("WORKBENCH_TURN", '{"max_steps": 3}', "turn.max_steps", 3),
        ("CODEX_HOME", "/codex", "ingest.codex_home", "/codex"),
    ],
)
def test_a_variable_sets_its_key_and_is_named_as_origin(place, name, text, key, value):
    config = place.load(environ={name: text})
    row = next(row for row in config.explain() if row.key == key)
    assert (row.value, row.origin, config.warnings) == (value, name, ())


def test_our_variable_wins_over_that_of_another_program(place):
    environ = {"WORKBENCH_INGEST__CODEX_HOME": "/ours", "CODEX_HOME": "/theirs"}
    assert place.load(environ=environ).ingest.codex_home == Path("/ours")


def test_blank_variables_and_the_home_say_nothing(place):
    assert place.load(environ={"WORKBENCH_LLM__MODEL": "  ", "WORKBENCH_HOME": "/x"}) == place.load()


def test_a_variable_that_is_no_number_or_flag_is_a_bad_value(place):
    environ = {"WORKBENCH_COMPILER__TOKEN_BUDGET": "many", "WORKBENCH_REDACTION__ENABLED": "nope"}
    config = place.load(environ=environ)
    assert (config.compiler.token_budget, config.redaction.enabled) == (100_000, True)
    assert told(config) == [
        (
            "WORKBENCH_COMPILER__TOKEN_BUDGET: compiler.token_budget: 'many' is not allowed,"
            " it should be a whole number above 1000; the default 100000 is used"
        ),
        (
            "WORKBENCH_REDACTION__ENABLED: redaction.enabled: 'nope' is not allowed, it should be true or false;"
            " the default True is used"
        ),
    ]


# --- What a project may not say


@pytest.mark.parametrize(
    "key",
    [
        "llm.base_url",
        "memory.ollama_url",
        "memory.db_path",
        "session.log_dir",
        "shell.enabled",
        "shell.allow_unsandboxed",
        "edit.confirm",
        "search_code.rg_path",
        "store.url",
        "store.file_retention_days",
        "ingest.claude_config_dir",
        "redaction.enabled",
        "serve.host",
        "serve.token",
        "vault.path",
        "embedding.model_path",
        "postgres.password",
    ],
)
def test_a_project_file_does_not_set_urls_paths_keys_and_permissions(place, key):
    file = place.project / "workbench.config.json"
    group, _, name = key.partition(".")
    file.write_text(json.dumps({group: {name: "/evil"}}))
    config = place.load()
    message = "a project's file may not set this; put it into the user's configuration"
    assert config.warnings == (ConfigWarning(str(file), key, message),)
    assert "/evil" not in str(config.explain())


def test_every_setting_with_a_place_or_a_credential_is_kept_from_projects():
    endings = ("_url", "_path", "_dir", "_home", ".url", ".path", ".host", ".port", ".folder")
    for spec in specs().values():
        if spec.holds_path or spec.about.secret or spec.key.endswith(endings):
            assert spec.about.local_only, spec.key
        assert spec.about.secret is is_secret_name(spec.key)
    for group in ("shell.", "edit.", "store.", "redaction.", "serve.", "ingest."):
        assert all(spec.about.local_only for spec in specs().values() if spec.key.startswith(group)), group


@pytest.mark.parametrize("text", ["edit = 0", "[edit.confirm]\nx = 1", '"edit.confirm" = false', "edit.confirm = 3"])
def test_a_project_file_cannot_undo_the_users_permission_by_malformed_entries(place, text):
    (place.home / "config.toml").write_text("[edit]\nconfirm = true\n")
    (place.project / "workbench.toml").write_text(text)
    config = place.load()
    assert config.edit.confirm is True
    assert len(config.warnings) == 1


def test_a_project_file_cannot_use_the_name_that_a_seed_has_for_a_path(place):
    (place.project / "workbench.config.json").write_text('{"vaultPath": "/evil", "socketPath": "/evil"}')
    config = place.load()
    assert (config.vault.path, config.serve.socket_path) == (None, None)
    assert [warning.key for warning in config.warnings] == ["vaultPath", "socketPath"]


def test_a_project_file_sets_the_rest(place):
    (place.project / "workbench.toml").write_text('[llm]\nmodel = "m"\n[compiler]\ntoken_budget = 5000\n')
    config = place.load()
    assert (config.llm.model, config.compiler.token_budget, config.warnings) == ("m", 5000, ())


def test_thousands_of_unknown_keys_do_not_hold_up_the_start(place):
    (place.project / "workbench.config.json").write_text(json.dumps({f"token_budgets_{n}": 1 for n in range(20_000)}))
    assert len(place.load().warnings) == 20_000


# --- Values


@pytest.mark.parametrize(
    ("key", "value", "should_be", "default"),
    [
        ("compiler.token_budget", 1000, "a whole number above 1000", "100000"),
        ("compiler.token_budget", True, "a whole number above 1000", "100000"),
        ("compiler.token_budget", {"x": 1}, "a whole number above 1000", "100000"),
        ("compiler.recent_turns", 0, "a whole number from 1 to 100", "10"),
        ("compiler.recent_turns", 101, "a whole number from 1 to 100", "10"),
        ("compiler.recent_turns_token_budget", -1, "a whole number of at least 0", "30000"),
        ("compiler.auto_compact_at", 0.4, "a number from 0.5 to 1", "0.75"),
        ("compiler.compact_chunk_fraction", 0.6, "a number from 0.05 to 0.5", "0.25"),
        ("compiler.verbatim_only", "yes", "true or false", "False"),
        ("llm.context_window", 1000, "a whole number above 1000", "None"),
        ("memory.embedder", "best", "'auto' or 'ollama' or 'transformers' or 'transformers-nomic'", "'auto'"),
        ("tiers.idle_soft_after_turns", "nine", "a whole number of at least 1", "20"),
        ("shell.allowed_paths", "/a", "a list, each entry a path", "[]"),
        ("shell.allowed_paths", [""], "a list, each entry a path", "[]"),
        ("ui.ambient", "loud", "'inline' or 'quiet'", "'inline'"),
        ("ui.banner", 1, "true or false", "True"),
        ("ui.syntax_theme", "", "a text that is not empty", "'nord'"),
        ("context_engine.artifact_ttl_turns", 0, "a whole number of at least 1", "50"),
        ("context_engine.distiller.default_intensity", "ultra", "'full' or 'lite'", "'full'"),
        ("context_engine.distiller.json_items", [3], "a list of 2, each entry a whole number of at least 0", "[16, 8]"),
        ("context_engine.scoring.w_recency", float("nan"), "a number", "0.5"),
        ("context_engine.pressure.compact_at", float("inf"), "a number", "0.7"),
        ("context_engine.scoring.w_pin", 10**400, "a number", "1.0"),
    ],
)
def test_a_bad_value_is_named_with_what_is_allowed_and_gives_way_to_the_default(place, key, value, should_be, default):
    config = place.load({key: value})
    said = [warning for warning in config.warnings if "is not allowed" in warning.message]
    assert [(warning.file, warning.key) for warning in said] == [("argument", key)]
    assert f" is not allowed, it should be {should_be}; the default {default} is used" in said[0].message
    row = next(row for row in config.explain() if row.key == key)
    assert (row.value, row.origin) == (row.default, "default")


def test_shares_must_add_up_to_one(place):
    good = place.load({"context_engine.task_type.general": [0.2, 0.2, 0.2, 0.2, 0.2]})
    assert good.context_engine.task_type.general == (0.2, 0.2, 0.2, 0.2, 0.2)
    bad = place.load({"context_engine.task_type.general": [0.2, 0.2, 0.2, 0.2, 0.3]})
    assert bad.context_engine.task_type.general == (0.10, 0.30, 0.15, 0.25, 0.20)
    assert "a list of 5, each entry a number from 0 to 1, together 1;" in told(bad)[0]


@pytest.mark.parametrize(
    ("given", "left", "given_up"),
    [
        (
            {"compiler.auto_compact_at": 0.9, "compiler.auto_compact_clear_at": 0.95},
            {"compiler.auto_compact_at": 0.9, "compiler.auto_compact_clear_at": 0.55},
            ["compiler.auto_compact_clear_at"],
        ),
        (
            {"compiler.auto_compact_at": 0.5},
            {"compiler.auto_compact_at": 0.75, "compiler.auto_compact_clear_at": 0.55},
            ["compiler.auto_compact_at"],
        ),
        (
            {"compiler.auto_compact_at": 0.5, "compiler.auto_compact_clear_at": 0.6},
            {"compiler.auto_compact_at": 0.75, "compiler.auto_compact_clear_at": 0.55},
            ["compiler.auto_compact_clear_at", "compiler.auto_compact_at"],
        ),
        (
            {"context_engine.pressure.compact_at": 0.9},
            {"context_engine.pressure.compact_at": 0.7, "context_engine.pressure.emergency_at": 0.85},
            ["context_engine.pressure.compact_at"],
        ),
        (
            {"context_engine.pressure.emergency_at": 0.7},
            {"context_engine.pressure.compact_at": 0.7, "context_engine.pressure.emergency_at": 0.85},
            ["context_engine.pressure.emergency_at"],
        ),
        (
            {"tiers.idle_soft_after_turns": 30, "tiers.idle_hard_after_turns": 30},
            {"tiers.idle_soft_after_turns": 30, "tiers.idle_hard_after_turns": 50},
            ["tiers.idle_hard_after_turns"],
        ),
        ({"tiers.idle_soft_after_turns": 1}, {"tiers.idle_hard_after_turns": 50}, []),
    ],
)
def test_the_softer_threshold_comes_before_the_harder_one(place, given, left, given_up):
    config = place.load(given)
    values = {row.key: row.value for row in config.explain()}
    assert {key: values[key] for key in left} == left
    assert [warning.key for warning in config.warnings] == given_up


def test_a_path_may_begin_with_the_users_folder(place):
    config = place.load({"vault.path": "~/notes", "shell.allowed_paths": ["~/a", Path("/b")]})
    assert config.vault.path == Path.home() / "notes"
    assert config.shell.allowed_paths == (Path.home() / "a", Path("/b"))
    assert place.load({"vault.path": "~nobody-of-this-name/x"}).vault.path == Path("~nobody-of-this-name/x")


@pytest.mark.parametrize("spec", specs().values(), ids=specs())
def test_every_setting_has_a_meaning_a_source_and_a_default_that_is_allowed(spec):
    assert spec.about.meaning
    assert spec.about.source
    assert allowed(spec)
    assert checked(spec, spec.default) == spec.default or spec.holds_path


def test_neighbours_named_by_a_setting_exist_and_their_defaults_are_in_order():
    for key, spec in specs().items():
        group = key.rpartition(".")[0]
        if spec.about.above:
            assert specs()[f"{group}.{spec.about.above}"].default < spec.default
        if spec.about.below:
            assert specs()[f"{group}.{spec.about.below}"].default > spec.default


# --- Keys


@pytest.mark.parametrize(
    ("key", "hint"),
    [
        ("compiler.token_bugdet", "; did you mean compiler.token_budget?"),
        ("compilr", "; did you mean compiler?"),
        ("emergency_at", "; did you mean context_engine.pressure.emergency_at?"),
        ("token_budget", "; did you mean compiler.token_budget or knowledge.wakeup.token_budget?"),
        ("autoSaveIntervall", "; did you mean autoSaveInterval?"),
        ("entirely.different", ""),
        ("", ""),
    ],
)
def test_an_unknown_key_is_kept_and_named_with_the_nearest_known_one(place, key, hint):
    config = place.load({key: [1, 2]})
    assert config.unknown == {key: [1, 2]}
    message = f"nobody knows this key; it is kept and has no effect{hint}"
    assert config.warnings == (ConfigWarning("argument", key, message),)


def test_a_group_is_no_value(place):
    config = place.load({"context_engine": {"scoring": 3}})
    assert config.context_engine == Config().context_engine
    message = "is a group of settings, so 3 cannot be its value; it is passed over"
    assert config.warnings == (ConfigWarning("argument", "context_engine.scoring", message),)


def test_keys_of_pai_are_read_under_their_own_names(place):
    (place.home / "config.json").write_text(
        json.dumps(
            {
                "indexIntervalSecs": 60,
                "embeddingModel": "m",
                "autoSaveInterval": 0,
                "wakeupL1Count": 3,
                "vaultPath": "/notes",
                "search": {"mode": "hybrid", "recencyBoostDays": 0, "defaultLimit": 7},
            }
        )
    )
    config = place.load()
    assert config.warnings == ()
    assert config.knowledge.index_interval_secs == 60
    assert config.embedding.model == "m"
    assert config.knowledge.hooks.auto_save_interval == 0
    assert config.knowledge.wakeup.l1_count == 3
    assert config.vault.path == Path("/notes")
    assert (config.search.mode, config.search.recency_boost_days, config.search.default_limit) == ("hybrid", 0.0, 7)


def test_keys_of_the_seeds_without_effect_here_are_accepted_and_named(place):
    file = place.home / "config.json"
    file.write_text(
        json.dumps(
            {
                "memory": {"db_path": "~/m.db"},
                "session": {"log_dir": "/logs"},
                "compiler": {"recent_turns": 4, "compression_watermark": 0.5},
                "storageBackend": "sqlite",
                "postgres": {"password": "hunter2"},
            }
        )
    )
    config = place.load()
    assert config.compiler.recent_turns == 4
    assert told(config) == [
        f"{file}: memory.db_path: has no effect here: memories are tables of the home",
        f"{file}: session.log_dir: has no effect here: event logs lie in the folder `sessions` of the home",
        f"{file}: compiler.recent_turns: has no effect here: only the legacy compiler used it, which is not built here",
        f"{file}: compiler.compression_watermark: has no effect here: compiler.auto_compact_at took its place",
        f"{file}: storageBackend: has no effect here: rows are Delta tables, vectors LanceDB; store.url says where",
        f"{file}: postgres.password: has no effect here: there is no PostgreSQL backend yet",
    ]


# --- Provider


@pytest.mark.parametrize(
    ("provider", "model", "summarizer"),
    [
        ("groq", "llama-3.1-70b-versatile", "openrouter"),
        ("anthropic", "claude-sonnet-4-20250514", "openai"),
        ("ollama", "llama3", "ollama"),
        ("amazon-bedrock", "deepseek/deepseek-v4-flash:free", "disabled"),
    ],
)
def test_model_and_summariser_follow_the_provider_when_unsaid(place, provider, model, summarizer):
    config = place.load({"llm.provider": provider})
    assert (config.llm.model, config.memory.summarizer) == (model, summarizer)
    origins = {row.key: row.origin for row in config.explain()}
    assert origins["llm.model"] == origins["memory.summarizer"] == "llm.provider"


def test_what_is_said_wins_over_what_follows(place):
    config = place.load({"llm": {"provider": "groq", "model": "m"}, "memory": {"summarizer": "disabled"}})
    assert (config.llm.model, config.memory.summarizer) == ("m", "disabled")


def test_without_a_provider_nothing_is_chosen(place):
    config = place.load()
    assert (config.llm.provider, config.llm.model, config.memory.summarizer) == ("", "", None)


# --- Files that cannot be read

BROKEN = {
    "config.toml": [
        (b"[turn]\nmax_steps = 3\nmodel =\n", "TOML: line 3, column 8: Invalid value"),
        (b"[turn]\nmax_steps = 3\nx = '\xff'", "TOML: line 3: it is not UTF-8"),
        (b"x = " + b"[" * 100_000, "TOML: it is nested too deeply"),
    ],
    "config.json": [
        (b'{"turn": {"max_steps": 3},\n "x": }', "JSON: line 2, column 7: Expecting value"),
        (b"[1, 2]", "JSON: it holds list instead of a table"),
        (b"", "JSON: line 1, column 1: Expecting value"),
        (b"[" * 100_000, "JSON: it is nested too deeply"),
        (b'{"x": "' + b"y" * 1_000_000 + b'"}', "JSON: it has more than 1,000,000 bytes"),
    ],
}


@pytest.mark.parametrize(
    ("name", "text", "trouble"),
    [(name, *case) for name, cases in BROKEN.items() for case in cases],
    ids=[f"{name}-{case[1]}" for name, cases in BROKEN.items() for case in cases],
)
def test_a_file_that_cannot_be_parsed_is_passed_over_with_line_and_remedy(place, name, text, trouble):
    file = place.home / name
    file.write_bytes(text)
    config = place.load()
    assert config.turn == Config().turn
    message = f"cannot be read as {trouble}; nothing in it is used. Correct or remove it"
    assert config.warnings == (ConfigWarning(str(file), "", message),)
    with pytest.raises(ConfigError, match=r"cannot be read as (TOML|JSON): .*\. Correct or remove it\."):
        place.load(path=file)


def test_a_folder_in_place_of_a_file_is_passed_over(place):
    (place.home / "config.toml").mkdir()
    assert told(place.load()) == [
        (
            f"{place.home / 'config.toml'}: cannot be read as TOML: it is not a file; nothing in it is used."
            " Correct or remove it"
        )
    ]


def test_missing_folders_say_nothing(tmp_path):
    assert load_config(tmp_path / "no", tmp_path / "nor", environ={}).warnings == ()


def test_a_named_file_stands_alone_and_is_trusted(place):
    (place.home / "config.toml").write_text("[turn]\nmax_steps = 3\n")
    (place.project / "workbench.toml").write_text("[turn]\nresult_chars = 4\n")
    (place.project / "mine.toml").write_text('[edit]\nconfirm = true\n[vault]\npath = "/notes"\n')
    config = place.load(environ={"WORKBENCH_TURN__MAX_STEPS": "6"}, path=place.project / "mine.toml")
    assert (config.turn.max_steps, config.turn.result_chars) == (6, 400)
    assert (config.edit.confirm, config.vault.path, config.warnings) == (True, Path("/notes"), ())


def test_a_name_without_ending_means_json_before_toml(place):
    (place.home / "mine.toml").write_text("[turn]\nmax_steps = 3\n")
    assert place.load(path=place.home / "mine").turn.max_steps == 3
    (place.home / "mine.json").write_text('{"turn": {"max_steps": 4}}')
    assert place.load(path=place.home / "mine").turn.max_steps == 4


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("no.toml", r"There is no configuration file .*no\.toml; check the path given\."),
        ("no", r"There is no configuration file .*no\.json and no .*no\.toml; check the path given\."),
        ("no.yaml", r"A configuration file ends in \.json or \.toml; .*no\.yaml does not\."),
    ],
)
def test_a_named_file_that_is_not_there_is_an_error(place, name, message):
    with pytest.raises(ConfigError, match=message):
        place.load(path=place.home / name)


# --- Explanation, secrets, hash


def test_the_explanation_tells_value_default_and_origin(place):
    (place.home / "config.toml").write_text("[compiler]\ntoken_budget = 5000\nmystery = 3\n")
    rows = {row.key: row for row in place.load({"turn.max_steps": 7}).explain()}
    file = str(place.home / "config.toml")
    assert rows["compiler.token_budget"] == ExplainRow(
        key="compiler.token_budget",
        value=5000,
        default=100_000,
        origin=file,
        meaning="tokens that a prompt may have",
        source="PRAANA, Configuration",
    )
    assert (rows["turn.max_steps"].value, rows["turn.max_steps"].origin) == (7, "argument")
    assert rows["tiers.idle_soft_after_turns"].origin == "default"
    assert rows["compiler.mystery"] == ExplainRow("compiler.mystery", 3, None, file, "unknown key, no effect", "")
    assert rows["session.log_dir"].meaning.startswith("no effect here (")


def test_the_explanation_is_json_and_has_each_setting_once(place):
    (place.home / "config.toml").write_text("day = 2024-05-01\n")
    rows = place.load().explain()
    keys = [row.key for row in rows]
    assert keys == [*specs(), "day"]
    assert len(keys) == len(set(keys))
    json.dumps([row.value for row in rows], allow_nan=False)


SECRETS = {
    "serve": {"token": "s3cret"},
    "postgres": {"password": "s3cret"},
    "llm": {"api_key": "s3cret", "base_url": "https://me:s3cret@example.org/v1"},
    "providers": {"openai": {"apiKey": "s3cret", "keys": {"secret": ["s3cret"]}}},
}


def test_no_credential_is_shown(place):
    config = place.load(SECRETS)
    assert config.serve.token == "s3cret"
    assert "s3cret" not in str(config.explain())
    assert "s3cret" not in str(config.warnings)
    assert "s3cret" not in repr(config.serve)
    assert "s3cret" not in repr(config.postgres)
    values = {row.key: row.value for row in config.explain()}
    assert values["serve.token"] == values["llm.api_key"] == MASK
    assert values["llm.base_url"] == f"https://{MASK}@example.org/v1"
    assert values["providers"] == {"openai": {"apiKey": MASK, "keys": {"secret": MASK}}}


def test_a_bad_credential_is_not_shown_either(place):
    (place.home / "config.json").write_text('{"serve": {"token": ["s3cret"], "port": "s3cret-port"}}')
    config = place.load()
    assert [warning.key for warning in config.warnings] == ["serve.port", "serve.token"]
    assert "'s3cret'" not in str(config.warnings)


@pytest.mark.parametrize(
    ("key", "secret"),
    [
        ("llm.api_key", True),
        ("serve.token", True),
        ("awsSecretAccessKey", True),
        ("password", True),
        ("compiler.reserved_output_tokens", False),
        ("knowledge.tokens_per_word", False),
        ("llm.model", False),
    ],
)
def test_credentials_are_told_by_the_name_of_their_key(key, secret):
    assert is_secret_name(key) is secret


def test_the_hash_does_not_depend_on_how_the_same_is_said(place):
    (place.home / "config.toml").write_text("[compiler]\ntoken_budget = 5000\n[turn]\nmax_steps = 3\n")
    one = place.load()
    two = place.load({"turn.max_steps": 3, "compiler": {"token_budget": 5000}})
    spelled = {"context_engine.scoring.w_pin": 1, "turn": {"max_steps": 3}, "compiler.token_budget": 5000}
    assert config_hash(one) == config_hash(two) == config_hash(place.load(spelled))
    assert len(config_hash(one)) == 64


def test_the_hash_leaves_out_credentials_places_people_and_idle_keys(place):
    idle = {
        "vault.path": "/notes",
        "serve.token": "t",
        "memory.user": "eve",
        "session.log_dir": "/x",
        "compiler.recent_turns": 4,
        "store.url": "s3://b",
        "mystery": 1,
    }
    assert config_hash(place.load(idle)) == config_hash(Config())


def test_the_hash_changes_with_a_weight(place):
    assert config_hash(place.load({"context_engine.scoring.w_pin": 1.5})) != config_hash(Config())


# --- The tree


def test_a_configuration_is_frozen(place):
    config = place.load()
    with pytest.raises(AttributeError):
        config.turn.max_steps = 3
    with pytest.raises(AttributeError):
        config.turn = None


def test_a_loaded_default_equals_the_declared_one(place):
    loaded, declared = place.load(), Config()
    for name in groups() - {""}:
        if "." not in name:
            assert getattr(loaded, name) == getattr(declared, name)


def test_the_sample_of_the_seed_is_read_whole(place):
    (place.home / "config.toml").write_text(
        """
        [llm]
        provider = "openrouter"
        model = "deepseek/deepseek-v4-pro"
        [memory]
        enabled = true
        summarizer = "openrouter"
        [compiler]
        token_budget = 100000
        [tiers]
        idle_soft_after_turns = 20
        idle_hard_after_turns = 50
        [context_engine]
        enabled = true
        measurement_mode = false
        artifact_inline_threshold = 400
        artifact_ttl_turns = 50
        checkpoint_enabled = true
        [context_engine.distiller]
        default_intensity = "full"
        [context_engine.scoring]
        w_pin = 1.0
        w_recency = 0.5
        w_relevance = 0.3
        w_semantic = 0.3
        w_hydrate_boost = 0.2
        [context_engine.pressure]
        compact_at = 0.70
        emergency_at = 0.85
        """
    )
    config = place.load()
    assert config.warnings == ()
    assert config.context_engine == Config().context_engine
    assert config.llm.model == "deepseek/deepseek-v4-pro"


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
KEYS = st.sampled_from([*specs(), *groups()]) | st.text(max_size=8)


@settings(deadline=None)  # it looks at every setting, which a busy machine may take long for
@given(st.dictionaries(KEYS, JSON, max_size=4))
def test_whatever_is_said_a_complete_and_allowed_configuration_comes_out(said):
    config = load_config(Path("/nowhere"), Path("/nowhere"), said, {})
    values = {row.key: row.value for row in config.explain()}
    assert values.keys() >= specs().keys()
    for key, spec in specs().items():
        if not spec.about.secret:
            checked(spec, values[key])
    assert config.context_engine.pressure.compact_at < config.context_engine.pressure.emergency_at
    assert config.compiler.auto_compact_clear_at < config.compiler.auto_compact_at


@settings(deadline=None)
@given(st.dictionaries(KEYS, JSON, max_size=4))
def test_a_project_never_moves_what_is_kept_from_it(said):
    from workbench.config.layers import sort_out

    layer = sort_out(said, "workbench.toml", project=True)
    assert not any(specs()[key].about.local_only for key in layer.known)
