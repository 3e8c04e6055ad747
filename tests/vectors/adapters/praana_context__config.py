"""The original's configuration, read from the user's TOML file of a fresh home; its variables get our names."""

from __future__ import annotations

import tempfile
import tomllib
from pathlib import Path

from vectors.harness import assert_equal
from workbench.config import load_config

VARIABLES = {
    "PRAANA_MODEL": "WORKBENCH_LLM__MODEL",
    "PRAANA_SUMMARIZER_MODEL": "WORKBENCH_MEMORY__SUMMARIZER_MODEL",
    "PRAANA_CONTEXT_ENGINE": "WORKBENCH_CONTEXT_ENGINE__ENABLED",
    "PRAANA_MEASUREMENT_MODE": "WORKBENCH_CONTEXT_ENGINE__MEASUREMENT_MODE",
}
FLAGS = {"PRAANA_CONTEXT_ENGINE": "enabled", "PRAANA_MEASUREMENT_MODE": "measurement_mode"}


def run(case_input):
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        (home / "config.toml").write_text(case_input["toml"], encoding="utf-8")
        environ = {VARIABLES[name]: ours(name, text) for name, text in case_input["env"].items() if name in VARIABLES}
        config = load_config(home, home, environ=environ)
    shown = {}
    for row in config.explain():
        section, _, key = row.key.rpartition(".")
        documented = key in TABLE.get(section, {}) or row.meaning.startswith("unknown key")
        if section and documented and is_shown(section, key, row.value):
            put(shown, section, key, with_short_home(row.value))
    return shown


def compare(actual, expected):
    """The recorded answers hold the sections that the case is about, save that of the case `defaults`."""
    assert_equal({section: actual[section] for section in expected if section in actual}, expected)


def ours(name, text):
    """Flags of the original: `true` and `1` are on, all else that is not blank is off (specification A, 27)."""
    if name not in FLAGS or not text.strip():
        return text
    return str(text in ("true", "1")).lower()


def put(tree, section, key, value):
    for name in section.split("."):
        tree = tree.setdefault(name, {})
    tree[key] = value


def with_short_home(value):
    if isinstance(value, list):
        return [with_short_home(part) for part in value]
    return value.replace(str(Path.home()), "~") if isinstance(value, str) else value


def is_shown(section, key, value):
    """The original's object lacks a key that has no default and was not set."""
    default, _ = TABLE.get(section, {}).get(key, (value, None))
    return value is not None and not (default is None and value == [])


# --- Right values where the recorded ones are not: the table of specification A, section 26, written out once more.


def whole(least=None, most=None):
    return lambda value: type(value) is int and (least is None or value >= least) and (most is None or value <= most)


def number(least=None, most=None):
    return lambda value: (
        type(value) in (int, float)
        and value - value == 0
        and (least is None or value >= least)
        and (most is None or value <= most)
    )


def one_of(*words):
    return lambda value: type(value) is str and value in words


def flag(value):
    return type(value) is bool


def text(value):
    return type(value) is str


def filled(value):
    return text(value) and value.strip() != ""


def texts(value):
    return type(value) is list and all(map(text, value))


TABLE = {
    "llm": {
        "provider": ("", text),
        "model": ("", text),
        "base_url": (None, text),
        "context_window": (None, whole(1001)),
    },
    "memory": {
        "enabled": (True, flag),
        "summarizer": (None, one_of("disabled", "ollama", "openrouter", "openai")),
        "db_path": ("~/.praana/memory.db", filled),
        "embedder": ("auto", one_of("auto", "ollama", "transformers", "transformers-nomic")),
        "transformers_model": (None, text),
        "ollama_url": ("http://localhost:11434", text),
        "ollama_model": ("nomic-embed-text", text),
        "ollama_summarizer_model": (None, text),
    },
    "compiler": {
        "token_budget": (100000, whole(1001)),
        "recent_turns": (10, whole(1, 100)),
        "recent_turns_token_budget": (30000, whole(0)),
        "recall_min_score": (0.35, number(0, 1)),
        "memories_budget_ratio": (0.2, number(0, 1)),
        "agents_budget_ratio": (0.3, number(0, 1)),
        "reserved_output_tokens": (0, whole(0)),
        "auto_compact_at": (0.75, number(0.5, 1)),
        "auto_compact_clear_at": (0.55, number(0.1, 1)),
        "compact_chunk_fraction": (0.25, number(0.05, 0.5)),
        "verbatim_only": (False, flag),
        "compression_watermark": (0.75, number(0, 1)),
        "compression_flush_fraction": (0.3, number(0, 1)),
    },
    "tiers": {"idle_soft_after_turns": (20, whole(1)), "idle_hard_after_turns": (50, whole(1))},
    "session": {"log_dir": ("~/.praana/sessions", filled)},
    "consolidation": {
        "enabled": (True, flag),
        "promotion_threshold": (3, whole(0)),
        "run_delay_seconds": (30, whole(0)),
        "model": (None, text),
    },
    "shell": {"enabled": (False, flag), "allowed_paths": ([], texts)},
    "edit": {"confirm": (False, flag)},
    "search_code": {"rg_path": (None, filled)},
    "skills": {
        "enabled": (True, flag),
        "max_token_budget_ratio": (0.2, number(0, 1)),
        "max_loaded_skills": (3, whole(0)),
        "stale_threshold_turns": (10, whole(0)),
        "max_depth": (6, whole(0)),
    },
    "ui": {
        "markdown_rendering": (True, flag),
        "syntax_highlighting": (True, flag),
        "syntax_theme": ("nord", filled),
        "ambient": ("inline", one_of("inline", "quiet")),
        "tool_icons": ("unicode", one_of("unicode", "ascii")),
        "background_zones": (False, flag),
        "show_cost": (True, flag),
        "banner": (True, flag),
    },
    "context_engine": {
        "enabled": (True, flag),
        "measurement_mode": (False, flag),
        "artifact_inline_threshold": (400, whole(0)),
        "artifact_ttl_turns": (50, whole(1)),
        "llm_digest": (False, flag),
        "activity_log_max_entries": (15, whole(1)),
        "checkpoint_enabled": (True, flag),
    },
    "context_engine.distiller": {"default_intensity": ("full", one_of("lite", "full"))},
    "context_engine.scoring": {
        "w_pin": (1.0, number()),
        "w_recency": (0.5, number()),
        "w_relevance": (0.3, number()),
        "w_semantic": (0.3, number()),
        "w_hydrate_boost": (0.2, number()),
    },
    "context_engine.pressure": {"compact_at": (0.7, number()), "emergency_at": (0.85, number())},
    "project_detection": {
        "enabled": (True, flag),
        "manual_languages": (None, texts),
        "manual_frameworks": (None, texts),
    },
    "turn": {"max_steps": (25, whole(1))},
}
ORDER = [  # lower, upper, which of them gives way first
    ("compiler", "auto_compact_clear_at", "auto_compact_at", "auto_compact_clear_at"),
    ("context_engine.pressure", "compact_at", "emergency_at", "emergency_at"),
    ("tiers", "idle_soft_after_turns", "idle_hard_after_turns", "idle_hard_after_turns"),
]
CHECKED_BY_THE_ORIGINAL = {
    "llm": ["context_window"],
    "memory": ["summarizer", "embedder"],
    "compiler": [
        *("token_budget", "recent_turns", "recent_turns_token_budget", "auto_compact_at", "auto_compact_clear_at"),
        *("compact_chunk_fraction", "verbatim_only"),
    ],
    "shell": list(TABLE["shell"]),
    "ui": list(TABLE["ui"]),
    "context_engine": list(TABLE["context_engine"]),
    "context_engine.distiller": list(TABLE["context_engine.distiller"]),
    "context_engine.scoring": ["w_pin", "w_recency", "w_relevance", "w_semantic"],
    "context_engine.pressure": list(TABLE["context_engine.pressure"]),
}
USUAL_MODELS = {
    "anthropic": "claude-sonnet-4-20250514",
    "openai": "gpt-4o",
    "deepseek": "deepseek-chat",
    "groq": "llama-3.1-70b-versatile",
    "google": "gemini-2.0-flash",
    "mistral": "mistral-large-latest",
    "xai": "grok-2",
    "fireworks": "accounts/fireworks/models/llama-v3p1-70b-instruct",
    "together": "meta-llama/Llama-3.1-70B-Instruct-Turbo",
    "opencode": "gpt-4o",
    "ollama": "llama3",
}
VIA_OPENROUTER = ["openrouter", "deepseek", "groq", "google", "mistral", "xai", "fireworks", "together"]
VIA_OPENAI = ["openai", "anthropic", "opencode"]


def as_documented(case_input):
    """What section 26 says of the input, with the same check for every key and nothing left over from other runs."""
    said = toml_of(case_input)
    values = {
        section: {
            key: said[section][key] if valid(said.get(section, {}).get(key)) else default
            for key, (default, valid) in keys.items()
        }
        for section, keys in TABLE.items()
    }
    for section, lower, upper, first in ORDER:
        for key in (first, *{lower, upper} - {first}):
            if values[section][lower] >= values[section][upper]:
                values[section][key] = TABLE[section][key][0]
    env = case_input["env"]
    for name, key in FLAGS.items():
        if env.get(name, "").strip():
            values["context_engine"][key] = env[name] in ("true", "1")
    fill_by_provider(values, env.get("PRAANA_MODEL", "").strip())
    shown = {}
    for section, keys in values.items():
        unknown = {key: value for key, value in said.get(section, {}).items() if key not in TABLE[section]}
        for key, value in (
            keys | {key: value for key, value in unknown.items() if not isinstance(value, dict)}
        ).items():
            if is_shown(section, key, value):
                put(shown, section, key, value)
    return shown


def fill_by_provider(values, model):
    llm, memory = values["llm"], values["memory"]
    llm["model"] = model or llm["model"]
    provider = llm["provider"]
    if not provider:
        return
    llm["model"] = llm["model"] or USUAL_MODELS.get(provider, "deepseek/deepseek-v4-flash:free")
    via = {**dict.fromkeys(VIA_OPENROUTER, "openrouter"), **dict.fromkeys(VIA_OPENAI, "openai"), "ollama": "ollama"}
    memory["summarizer"] = memory["summarizer"] or via.get(provider, "disabled")


def toml_of(case_input):
    """The tables of the file by dotted name."""
    tree = tomllib.loads(case_input["toml"])
    engine = tree.get("context_engine", {})
    inner = {f"context_engine.{name}": table for name, table in engine.items() if isinstance(table, dict)}
    return {name: table for name, table in (tree | inner).items() if isinstance(table, dict)}


def has_bad_value_that_the_original_keeps(case_input):
    said = toml_of(case_input)
    return any(
        key in said.get(section, {}) and not valid(said[section][key])
        for section, keys in TABLE.items()
        for key, (_, valid) in keys.items()
        if key not in CHECKED_BY_THE_ORIGINAL.get(section, [])
    )


def has_wrong_order(case_input):
    said = toml_of(case_input)
    for section, lower, upper, _ in ORDER:
        low, high = (said.get(section, {}).get(key, TABLE[section][key][0]) for key in (lower, upper))
        if number()(low) and number()(high) and low >= high:
            return True
    return False


def names_no_provider(case_input):
    return not toml_of(case_input).get("llm", {}).get("provider")


def leaves_summarizer_to_the_provider(case_input):
    return "summarizer" not in toml_of(case_input).get("memory", {})


def leaves_an_engine_switch_unsaid(case_input):
    said = toml_of(case_input).get("context_engine", {})
    return any(key not in said and not case_input["env"].get(name, "").strip() for name, key in FLAGS.items())
