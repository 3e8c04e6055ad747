"""Layers in, one checked tree out: a bad value gives way to its default, and a warning says so."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Final

from workbench.config.checking import checked
from workbench.config.layers import Layer, argument_layer, file_layer, stacked, variable_layer
from workbench.config.records import ConfigWarning, shown
from workbench.config.tree import Config, Loaded, assemble, plain, specs
from workbench.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

DEFAULT_MODELS: Final = {
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
    "openrouter": "deepseek/deepseek-v4-flash:free",
    "ollama": "llama3",
}
"""The chat model of a provider when none is named (PRAANA src/llm.ts); any other provider gets openrouter's."""

SUMMARIZERS: Final = {
    "openrouter": ("openrouter", "deepseek", "groq", "google", "mistral", "xai", "fireworks", "together"),
    "openai": ("openai", "anthropic", "opencode"),
    "ollama": ("ollama",),
}
"""Who summarises for which chat providers when nothing is said; for others nobody (PRAANA source, summariser)."""


def load(
    home: Path,
    project_dir: Path,
    overrides: Mapping[str, Any],
    environ: Mapping[str, str],
    path: Path | None,
) -> Config:
    """Read all layers and check what they say; see `workbench.config.load_config`."""
    files = [named_file(path)] if path is not None else usual_files(home, project_dir)
    layer = stacked([*files, variable_layer(environ), argument_layer(overrides)])
    draft = _Draft(layer)
    draft.check_values()
    draft.check_order()
    draft.follow_provider()
    unknown = {key: given.value for key, given in layer.unknown.items()}
    return assemble(draft.values, Loaded(home, tuple(draft.warnings), draft.origins, unknown))


def usual_files(home: Path, project_dir: Path) -> list[Layer]:
    """The four places, weakest first."""
    return [
        file_layer(home / "config.json"),
        file_layer(home / "config.toml"),
        file_layer(project_dir / "workbench.config.json", project=True),
        file_layer(project_dir / "workbench.toml", project=True),
    ]


def named_file(path: Path) -> Layer:
    """The one file that was asked for; without an ending the JSON one, else the TOML one.

    Raises:
        ConfigError: It is missing, unreadable or of another kind.
    """
    if path.suffix in (".json", ".toml"):
        return file_layer(path, required=True)
    if path.suffix:
        raise ConfigError(f"A configuration file ends in .json or .toml; {path} does not.")
    tried = [path.with_suffix(".json"), path.with_suffix(".toml")]
    found = [candidate for candidate in tried if os.path.exists(candidate)]  # noqa: PTH110 - Path.exists may raise
    if not found:
        raise ConfigError(f"There is no configuration file {tried[0]} and no {tried[1]}; check the path given.")
    return file_layer(found[0], required=True)


class _Draft:
    """Values on their way into a configuration, with what had to be said about them."""

    def __init__(self, layer: Layer) -> None:
        self.values: dict[str, Any] = {key: spec.default for key, spec in specs().items()}
        self.values |= {key: given.value for key, given in layer.known.items()}
        self.origins = {key: given.origin for key, given in {**layer.known, **layer.unknown}.items()}
        self.warnings = list(layer.warnings)

    def check_values(self) -> None:
        """Give up every value that its declaration does not allow."""
        for key, spec in specs().items():
            if key in self.origins:
                try:
                    self.values[key] = checked(spec, self.values[key])
                except ValueError as error:
                    self._give_up(key, str(error))

    def check_order(self) -> None:
        """Give up values that are on the wrong side of their neighbour: the dependent one first, then the other."""
        for key, spec in specs().items():
            group = key.rpartition(".")[0]
            if spec.about.above:
                self._keep_order(key, lower=f"{group}.{spec.about.above}", upper=key)
            if spec.about.below:
                self._keep_order(key, lower=key, upper=f"{group}.{spec.about.below}")

    def _keep_order(self, dependent: str, *, lower: str, upper: str) -> None:
        for key in (dependent, lower if dependent == upper else upper):
            if self.values[lower] < self.values[upper]:
                return
            if key in self.origins:
                side, other = ("below", upper) if key == lower else ("above", lower)
                self._give_up(key, f"a number {side} {other} ({self.values[other]})")

    def follow_provider(self) -> None:
        """Fill what follows from the chat provider and was not said."""
        provider = self.values["llm.provider"]
        if not provider:
            return
        if not self.values["llm.model"].strip():
            self._follow("llm.model", DEFAULT_MODELS.get(provider, DEFAULT_MODELS["openrouter"]))
        if self.values["memory.summarizer"] is None:
            found = [name for name, served in SUMMARIZERS.items() if provider in served]
            self._follow("memory.summarizer", found[0] if found else "disabled")

    def _follow(self, key: str, value: str) -> None:
        self.values[key] = value
        self.origins[key] = "llm.provider"

    def _give_up(self, key: str, allowed: str) -> None:
        spec = specs()[key]
        bad = shown(key, plain(self.values[key]), secret=spec.about.secret)
        default = shown(key, plain(spec.default), secret=spec.about.secret)
        message = f"{bad} is not allowed, it should be {allowed}; the default {default} is used"
        self.warnings.append(ConfigWarning(self.origins.pop(key), key, message))
        self.values[key] = spec.default
