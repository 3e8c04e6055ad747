"""Models that read tokens, as ONNX files: opening them, and laying texts into the arrays that they take."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from workbench.errors import WorkbenchError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from onnxruntime import InferenceSession  # type: ignore[import-untyped]
    from tokenizers import Encoding, Tokenizer

FILES: Final = ("model.onnx", "tokenizer.json")
MOST_THREADS: Final = 4
"""More do not help models of this size; two cores gave 1.7 times the texts of one (spikes 6)."""

_INPUTS: Final = ("input_ids", "attention_mask", "token_type_ids")


def read_model_folder(folder: Path, name: str, key: str, refused: type[WorkbenchError]) -> tuple[bytes, bytes]:
    """Read `model.onnx` and `tokenizer.json` of a folder.

    Args:
        folder: The folder.
        name: What the messages call the model.
        key: The setting that names the folder.
        refused: Raised where a file cannot be read.
    """
    contents = []
    for file in FILES:
        try:
            contents.append((folder / file).read_bytes())
        except OSError as error:
            raise refused(
                f"{name} in {folder} cannot be loaded: {file}: {error.strerror}; {key} names a folder with "
                f"{' and '.join(FILES)}"
            ) from error
    model, tokenizer = contents
    return model, tokenizer


def open_session(name: str, model: bytes, refused: type[WorkbenchError]) -> InferenceSession:
    """Open an ONNX model for inference on the processor.

    Args:
        name: What the messages call it.
        model: Content of `model.onnx`.
        refused: Raised where it is not a model that reads tokens.
    """
    import onnxruntime  # noqa: PLC0415  # 180 ms

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = min(_cores(), MOST_THREADS)
    options.inter_op_num_threads = 1
    # waiting threads that spin take the processor from whatever else runs here
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    options.log_severity_level = 3
    try:
        session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    except Exception as error:  # onnxruntime has an exception class for every cause and no base of them
        raise refused(f"{name}: model.onnx is not a model that onnxruntime reads: {error}") from error
    inputs = {each.name for each in session.get_inputs()}
    if not {"input_ids", "attention_mask"} <= inputs <= {"input_ids", "attention_mask", "token_type_ids"}:
        raise refused(
            f"{name}: model.onnx takes {', '.join(sorted(inputs))}; expected are input_ids, attention_mask and perhaps "
            "token_type_ids"
        )
    return session


def open_tokenizer(name: str, content: bytes, refused: type[WorkbenchError]) -> Tokenizer:
    """Open a tokenizer that neither cuts nor pads.

    Args:
        name: What the messages call it.
        content: Of `tokenizer.json`.
        refused: Raised where it is not a tokenizer.
    """
    from tokenizers import Tokenizer  # noqa: PLC0415  # 30 ms, and not for every command

    try:
        json.loads(content)  # what the library says of other text is no help
        tokenizer = Tokenizer.from_buffer(content)
    except Exception as error:  # the library raises plain Exceptions
        raise refused(f"{name}: tokenizer.json is not a tokenizer: {error}") from error
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer


def model_inputs(session: InferenceSession, encodings: Sequence[Encoding]) -> dict[str, NDArray[np.int64]]:
    """Lay encodings into the arrays that a model takes: (texts, tokens of the longest), padded by zeros."""
    import numpy as np  # noqa: PLC0415  # providers are described without it

    longest = max(len(encoding.ids) for encoding in encodings)
    arrays = {name: np.zeros((len(encodings), longest), dtype=np.int64) for name in _INPUTS}
    for row, encoding in enumerate(encodings):
        places = slice(0, len(encoding.ids))
        arrays["input_ids"][row, places] = encoding.ids
        arrays["attention_mask"][row, places] = encoding.attention_mask
        arrays["token_type_ids"][row, places] = encoding.type_ids
    return {each.name: arrays[each.name] for each in session.get_inputs()}


def _cores() -> int:
    """Cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
