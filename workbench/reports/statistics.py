"""The page on how far the statistics hold, in Markdown, and its numbers: what `workbench eval statistics` writes."""

from __future__ import annotations

import io
import shlex
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from workbench.errors import StoreError
from workbench.experiments.statistics.simulation import (
    DRAWS,
    EFFECT,
    EXPERIMENTS,
    FIRST_PEEK,
    PEEKS,
    SHAPES,
    SPREAD,
    Share,
)
from workbench.store.files import make_folder, write_atomic

if TYPE_CHECKING:
    import polars as pl

PAGE: Final = "README.md"
NUMBERS: Final = "simulation.parquet"
LIBRARIES: Final = ("workbench", "numpy", "scipy")

FALSE_POSITIVES: Final = (0.044, 0.056)
"""Within which the share of false positives at 5 % is to lie: three standard errors of 10,000 experiments."""
COVERAGE: Final = (0.94, 0.96)
"""Within which a 95 % interval is to hold the truth."""
LEAST_ARM: Final = 50
"""Units of the smaller arm from which that is promised; below it a comparison warns."""


class Written(NamedTuple):
    """Files of the page."""

    page: Path
    numbers: Path


def command_of(seed: int, experiments: int, shapes: Sequence[str] = ()) -> str:
    """The command that makes the page anew."""
    more = [] if experiments == EXPERIMENTS else ["--experiments", str(experiments)]
    more += [word for shape in shapes for word in ("--shape", shape)]
    return shlex.join(["workbench", "eval", "statistics", "--seed", str(seed), *more])


def frame_of(found: Sequence[Share]) -> pl.DataFrame:
    """The numbers as a frame, a row a share."""
    import polars as pl  # noqa: PLC0415

    return pl.DataFrame([share.row() for share in found])


def write_statistics(found: Sequence[Share], folder: Path, command: str) -> Written:
    """Write page and numbers.

    Args:
        found: From `simulate`.
        folder: Made where it is missing.
        command: What makes them anew.

    Raises:
        StoreError: The folder cannot be written to.
    """
    written = Written(folder / PAGE, folder / NUMBERS)
    frame = frame_of(found)
    parquet = io.BytesIO()
    frame.write_parquet(parquet)
    try:
        make_folder(folder)
        write_atomic(written.numbers, parquet.getvalue())
        write_atomic(written.page, page(frame, command).encode())
    except OSError as error:
        raise StoreError(f"the page cannot be written to {folder}: {error.strerror}; name another: --out") from error
    return written


def page(frame: pl.DataFrame, command: str) -> str:
    """The page.

    Args:
        frame: As `frame_of` makes it.
        command: What makes it anew.
    """
    count = max(frame["experiments"].to_list())
    versions = ", ".join(f"{name} {version(name)}" for name in LIBRARIES)
    shapes = "; ".join(f"*{shape.name}*: {shape.says}" for shape in SHAPES)
    most = max(frame["first"].to_list())
    parts = [
        "# How far the statistics hold",
        (
            f"Made by `{command}` with {versions}. {count:,} experiments a cell, whose truth is known, go through the "
            f"functions that `workbench compare` calls, with {DRAWS:,} resamples or permutations each. Every figure is "
            f"a share of experiments in per cent; *simulation.parquet* has them all. Metrics are {shapes}."
        ),
        _headline(frame),
        "## False positives at 5 %",
        (
            "Both arms, or the two of each pair, are alike. A permutation test is exact. Where a metric has few "
            "values, so has p, and the largest p that is not above 0.05 may be far below it: the test then errs on the "
            "careful side, the more so the smaller the arms. "
            f"Bold is more than {_percent(FALSE_POSITIVES[1])}, slanted is less than {_percent(FALSE_POSITIVES[0])}."
        ),
        _table(frame, "false positives", FALSE_POSITIVES),
        (
            "Arms of one mean, the smaller of which varies "
            f"{SPREAD:g} times as much (normal values). This is why comparisons permute t, not the difference of means:"
        ),
        _spread_table(frame),
        "## Looking again and again",
        (
            f"{PEEKS} looks at arms that grow from {FIRST_PEEK} units to {most} (at the second arm of *1 to 4*, at a "
            "quarter of them), or at pairs: in how many experiments some look excludes the truth. The sequential "
            "interval may do so in 5 % at most; beside it what becomes of an ordinary 95 % interval."
        ),
        _table(frame, "peeks", (0.0, 0.05)),
        "## Coverage of 95 % intervals",
        (
            "How often the interval of the difference holds the truth, without a difference and with "
            f"{_percent(EFFECT - 1)} more in the second arm. Bold is less than {_percent(COVERAGE[0])}, slanted is "
            f"more than {_percent(COVERAGE[1])}. Comparisons use bootstrap-t; percentile is the ordinary bootstrap. "
            "*Mostly zero* and *heavy tail* show where no such interval holds for arms of this size: medians "
            f"and rank tests stand beside the means for them. With an arm below {LEAST_ARM} units a comparison warns."
        ),
        _table(frame, "coverage", COVERAGE),
    ]
    return "\n\n".join(parts) + "\n"


def _headline(frame: pl.DataFrame) -> str:
    """What holds for arms of `LEAST_ARM` units and more, the shapes apart that are there to show where it does not."""
    import polars as pl  # noqa: PLC0415

    hard = [shape.name for shape in SHAPES if shape.is_hard]
    large = frame.filter((pl.col("second") >= LEAST_ARM) & ~pl.col("shape").is_in(hard))
    yes_no, table, method = pl.col("shape").str.starts_with("share"), pl.col("table"), pl.col("method")
    tests = large.filter((table == "false positives") & method.is_in(["permutation of t", "sign flips"]))
    arms, pairs = (tests.filter((pl.col("design") == design) & ~yes_no) for design in ("arms", "pairs"))
    holds = large.filter((table == "coverage") & (method == "bootstrap-t"))
    looks = frame.filter((table == "peeks") & (method == "sequential"))
    return (
        f"In short, for arms and pairs of {LEAST_ARM} and more, *mostly zero* and *heavy tail* apart: of tests at 5 %, "
        f"{_range(arms)} are false positives (of pairs {_range(pairs)}; of yes-or-no metrics "
        f"{_range(tests.filter(yes_no))}); 95 % intervals hold the truth in {_range(holds)}; under {PEEKS} looks the "
        f"sequential interval misses it in {_range(looks)}, over all shapes and from arms of {FIRST_PEEK} units on."
    )


def _range(rows: pl.DataFrame) -> str:
    shares = rows["share"].to_list()
    return f"{100 * min(shares):.1f} to {100 * max(shares):.1f} %" if shares else "none"


def _table(frame: pl.DataFrame, table: str, bounds: tuple[float, float]) -> str:
    """Shapes side by side, a line a design, size and method; what is out of bounds is marked."""
    import polars as pl  # noqa: PLC0415

    keys = ["design", "first", "second", "effect", "method"]
    rows = frame.filter(pl.col("table") == table)
    names = [shape.name for shape in SHAPES if shape.name in set(rows["shape"])]
    lines = []
    for key, group in rows.group_by(keys, maintain_order=True):
        shares = dict(zip(group["shape"], group["share"], strict=True))
        told = dict(zip(keys, key, strict=True))
        cells = [_cell(shares.get(name), bounds, is_bad_above=table != "coverage") for name in names]
        lines.append([_units(told), *_effect(told, table), told["method"], *cells])
    heads = ["units", *(["second arm"] if table == "coverage" else []), "method", *names]
    return markdown_table(heads, _grouped(lines))


def _grouped(lines: list[list[Any]]) -> list[list[Any]]:
    """Lines of one design and size together, in the order in which they first come."""
    order = {line[0]: place for place, line in reversed(list(enumerate(lines)))}
    return sorted(lines, key=lambda line: order[line[0]])


def _units(told: dict[str, Any]) -> str:
    first, second, design = told["first"], told["second"], told["design"]
    if design == "pairs":
        return f"{first} pairs"
    return f"{first} and {second}" if design == "arms" else f"{design}, to {first}"


def _effect(told: dict[str, Any], table: str) -> list[str]:
    if table != "coverage":
        return []
    return ["alike" if told["effect"] == 1.0 else f"{_percent(told['effect'] - 1)} more"]


def _spread_table(frame: pl.DataFrame) -> str:
    import polars as pl  # noqa: PLC0415

    rows = frame.filter(pl.col("table") == "unequal spreads")
    return markdown_table(
        ["units", "method", "false positives"],
        [
            [_units(row), row["method"], _cell(row["share"], FALSE_POSITIVES, is_bad_above=True)]
            for row in rows.to_dicts()
        ],
    )


def _cell(share: float | None, bounds: tuple[float, float], *, is_bad_above: bool) -> str:
    """A share in per cent; bold on the wrong side of the bounds, slanted on the careful one."""
    if share is None:
        return ""
    text, rounded = f"{100 * share:.1f}", round(share, 3)
    if bounds[0] <= rounded <= bounds[1]:
        return text
    return f"**{text}**" if (rounded > bounds[1]) == is_bad_above else f"*{text}*"


def _percent(part: float) -> str:
    return f"{100 * part:.3g} %"


def markdown_table(heads: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """A table in Markdown."""
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)
