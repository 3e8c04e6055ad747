"""The report of an evaluation of retrieval: a page a set, its numbers beside it, and a page over all sets.

No path of the machine is in it: a set is named as `data/retrieval/cosqa`, and so in the command that makes it anew.
"""

from __future__ import annotations

import io
import json
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from workbench.errors import BadInputError, StoreError
from workbench.experiments.retrieval.evaluation import Evaluation, gain_of_chunking
from workbench.reports.retrieval_pages import Numbers, overview, page
from workbench.store.files import make_folder, write_atomic

if TYPE_CHECKING:
    from workbench.experiments.statistics import Interval

SHAPE: Final = 2
"""Of the JSON; another number means that names have changed."""

LIBRARIES: Final = ("workbench", "lancedb", "onnxruntime", "numpy")
OVERVIEW: Final = "README.md"
_DIGITS: Final = 6


class RetrievalReport(NamedTuple):
    """Files of a report."""

    page: Path
    numbers: Path
    per_query: Path
    overview: Path


def portable(path: Path) -> str:
    """A path as it may stand in a report: from the folder `data` on, or its last name."""
    parts = path.resolve().parts
    return "/".join(parts[parts.index("data") :]) if "data" in parts else parts[-1]


def command_of(path: Path, corpus: Path | None, models: Sequence[str], chunkings: Sequence[str] = ()) -> str:
    """The command that makes a report anew."""
    words = ["workbench eval retrieval", portable(path)]
    words += [f"--corpus {portable(corpus)}"] if corpus is not None else []
    words += [f"--embedder {model}" for model in dict.fromkeys(models)]
    return " ".join([*words, *(f"--chunking {chunking}" for chunking in chunkings)])


def report_numbers(evaluations: Sequence[Evaluation], command: str) -> Numbers:
    """The numbers of a set as JSON holds them.

    Args:
        evaluations: Of one set, an embedder and a way to cut each.
        command: What makes them anew.
    """
    first = evaluations[0]
    return {
        "shape": SHAPE,
        "set": first.set_name,
        "command": command,
        "versions": {name: version(name) for name in LIBRARIES},
        "left_out": list(first.left_out),
        "evaluations": [_evaluation(each) for each in evaluations],
        "chunkings": _chunkings(evaluations),
    }


def write_retrieval_report(evaluations: Sequence[Evaluation], folder: Path, command: str) -> RetrievalReport:
    """Write page, numbers and the values of every query, and make the page over all sets in the folder anew.

    Args:
        evaluations: Of one set, an embedder each.
        folder: Made where it is missing.
        command: What makes them anew.

    Returns:
        The files.

    Raises:
        StoreError: The folder cannot be written to.
        BadInputError: Numbers of another set in the folder cannot be read.
    """
    import polars as pl  # noqa: PLC0415  (175 ms)

    numbers = report_numbers(evaluations, command)
    stem = str(numbers["set"])
    written = RetrievalReport(
        folder / f"{stem}.md", folder / f"{stem}.json", folder / f"{stem}.parquet", folder / OVERVIEW
    )
    frames = [each.per_query.select(pl.lit(each.model_id).alias("model_id"), pl.all()) for each in evaluations]
    parquet = io.BytesIO()
    pl.concat(frames).write_parquet(parquet)
    try:
        make_folder(folder)
        write_atomic(written.per_query, parquet.getvalue())
        write_atomic(written.numbers, (json.dumps(numbers, indent=1) + "\n").encode())
        write_atomic(written.page, page(numbers).encode())
        write_atomic(written.overview, overview(read_numbers(folder)).encode())
    except OSError as error:
        raise StoreError(
            f"the report cannot be written to {folder}: {error.strerror}; name another folder: --out"
        ) from error
    return written


def read_numbers(folder: Path) -> list[Numbers]:
    """The numbers of every set in a folder, by name.

    Raises:
        BadInputError: A file is not what this version writes.
    """
    sets = []
    for path in sorted(folder.glob("*.json")):
        try:
            numbers = json.loads(path.read_bytes())
            is_ours = numbers["shape"] == SHAPE
        except (ValueError, KeyError, TypeError):
            is_ours = False
        if not is_ours:
            raise BadInputError(
                f"{path} has not the shape of this version's numbers; evaluate that set anew or move it away"
            )
        sets.append(numbers)
    return sets


def _chunkings(evaluations: Sequence[Evaluation]) -> list[Numbers]:
    """Of every embedder: each way to cut against the first."""
    rows = []
    for each in evaluations:
        first = next(one for one in evaluations if one.model_id == each.model_id)
        if first is not each:
            gain = {
                name: [round(figure, _DIGITS) for figure in found]
                for name, found in gain_of_chunking(each, first).items()
            }
            rows.append({"model_id": each.model_id, "chunking": each.chunking, "against": first.chunking, "gain": gain})
    return rows


def _evaluation(each: Evaluation) -> Numbers:
    methods: Numbers = {}
    for method, measure, *figures in each.summary.iter_rows():
        own = methods.setdefault(method, {"measures": {}})
        estimate, low, high = (None if figure is None else round(figure, _DIGITS) for figure in figures)
        if low is None:
            own[measure] = estimate
        else:
            own["measures"][measure] = [estimate, low, high]
    return {
        "model_id": each.model_id,
        "chunking": each.chunking,
        "counts": dict(each.counts),
        "methods": methods,
        "grid": [
            {name: round(value, _DIGITS) if isinstance(value, float) else value for name, value in row.items()}
            for row in each.grid.iter_rows(named=True)
        ],
        "tuned": str(each.choice.mixture),
        "best_on_tuning_half": str(each.choice.best),
        "gain_on_tuning_half": [round(figure, _DIGITS) for figure in each.choice.gain],
        "default": str(each.default),
        "better_single": each.better_single,
        "gain": _rounded(each.gain),
        "default_gain": _rounded(each.default_gain),
        "verdict": each.verdict,
    }


def _rounded(intervals: Mapping[str, Interval]) -> dict[str, list[float]]:
    return {name: [round(figure, _DIGITS) for figure in interval] for name, interval in intervals.items()}
