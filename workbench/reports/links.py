"""The table of a hold-out check of a vault's links, as Markdown and as JSON values."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any, Final

from workbench.experiments.link_holdout import BASELINES, METHODS, Holdout
from workbench.experiments.statistics import Interval

NAMES: Final = {
    "suggest": "suggest (0.5 meaning, 0.2 tags, 0.3 neighbours)",
    "semantic": "meaning alone",
    "tag": "tags alone",
    "neighbor": "neighbours alone (ways of two links)",
    "common_neighbours": "common neighbours, either way",
    "inbound": "most linked notes",
}


def holdout_numbers(found: Holdout, vault: str, command: str) -> dict[str, Any]:
    """The figures as JSON values."""
    return {
        "vault": vault,
        "command": command,
        "settings": asdict(found.settings),
        "notes": found.notes,
        "pairs": found.pairs,
        "hidden": found.hidden,
        "notes_asked": found.per_note["path"].n_unique(),
        "model": found.model_id,
        "texts_cut": found.are_texts_cut,
        "recall": {method: found.recall[method]._asdict() for method in METHODS},
        "gain_of_suggest": {method: found.gain[method]._asdict() for method in BASELINES},
        "spread": {method: list(found.spread[method]) for method in METHODS},
    }


def holdout_markdown(found: Holdout, vault: str, command: str) -> str:
    """A page: question, data, figures with their intervals, and the command that makes it again."""
    settings = found.settings
    cut = (
        "cut out of the texts before these were embedded again"
        if found.are_texts_cut
        else "still in the texts that the vectors were made of, which favours meaning"
    )
    rows = [
        f"| {NAMES[method]} | {_interval(found.recall[method])} | {found.spread[method][0]:.3f} to "
        f"{found.spread[method][1]:.3f} | {_interval(found.gain[method], sign='+') if method in BASELINES else ''} |"
        for method in METHODS
    ]
    data = (
        f"{settings.share:.0%} of the {found.pairs:,} linked pairs among {found.notes:,} notes were hidden, "
        f"{settings.repeats} times over: {found.hidden:,} links of {found.per_note['path'].n_unique():,} notes in all, "
        f"{cut}. Vectors: {found.model_id or 'none'}."
    )
    measure = (
        f"Recall@{settings.first}: the share of a note's hidden links among its first {settings.first} suggestions, "
        "equal scores drawn fairly. Brackets: 95 % bootstrap interval over notes, whose repeats are averaged first."
    )
    table = [
        f"| ranking | recall@{settings.first} | over repeats | suggest is better by |",
        "| --- | --- | --- | --- |",
        *rows,
    ]
    made_by = f"Made by `workbench vault index {vault}{' --embed' if found.model_id else ''}`, then `{command}`."
    parts = [f"# Does `suggest` find the links of {vault}?", data, measure, "\n".join(table), made_by]
    return "\n\n".join(parts) + "\n"


def _interval(figure: Interval, sign: str = "") -> str:
    return f"{figure.estimate:{sign}.3f} [{figure.low:{sign}.3f}, {figure.high:{sign}.3f}]"
