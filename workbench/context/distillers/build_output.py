"""Output of builds, and of the tests that a build runs.

Source: PRAANA src/distillers/tsc-errors.ts; specification A, 14.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from workbench.context.distillers.builds import summarise_build
from workbench.context.distillers.diagnostics import render_build
from workbench.context.distillers.distilled import by_intensity, cut_line
from workbench.context.distillers.test_output import distil_tests, is_test_output

if TYPE_CHECKING:
    from workbench.config.context import Distiller
    from workbench.context.records import Intensity


def distil_build(text: str, intensity: Intensity, settings: Distiller) -> str:
    """The errors of a build by message, then what else tells of a failure, then some warnings.

    A build may run tests: their output is distilled as such and stands below.

    Source: PRAANA src/distillers/tsc-errors.ts.
    """
    build = summarise_build(text)
    tests = distil_tests(text, intensity, settings) if is_test_output(text) else ""
    if tests and build.diagnostics:
        other = tuple(line for line in build.said if line.strip() not in tests)
        return "\n\n".join([render_build(msgspec.structs.replace(build, said=other), intensity, settings), tests])
    if tests:
        return tests
    if build.diagnostics or build.said:
        return render_build(build, intensity, settings)
    chars = by_intensity(settings.line_chars, intensity)
    lines = text.split("\n")[: by_intensity(settings.build_fallback_lines, intensity)]
    return "\n".join(cut_line(line, chars) for line in lines)
