"""Intensity, texts without a distiller, cards."""

from __future__ import annotations

import msgspec

from workbench.config.context import Distiller
from workbench.context.cards import card
from workbench.context.distillers import DISTILLERS, distil, select_intensity

UNREGISTERED = {kind: entry for kind, entry in DISTILLERS.items() if kind == "error"}
"""A registry without distillers: errors stay whole, all else goes to the fallback."""


def run(case_input):
    return OPERATIONS[case_input["op"]](case_input)


def intensity(case_input):
    settings = msgspec.structs.replace(Distiller(), default_intensity=case_input["default"])
    return select_intensity(case_input["rawTokens"], settings)


def summarised(case_input):
    return distil(case_input["text"], case_input["contentType"], Distiller(), registry=UNREGISTERED).text


def carded(case_input):
    return card(
        case_input["id"],
        case_input["sourceTool"],
        case_input.get("command"),
        case_input["rawTokens"],
        case_input["summary"],
    )


OPERATIONS = {"selectIntensity": intensity, "summarizeGeneric": summarised, "artifactCard": carded}
