"""Tiny ONNX models and tokenizers, written byte by byte: the package `onnx` is not needed to make them.

Field numbers are those of onnx.proto (ModelProto, GraphProto, NodeProto, TensorProto, ValueInfoProto).
"""

import numpy as np
from tokenizers import Tokenizer, models, pre_tokenizers, processors

FLOAT, INT64 = 1, 7
NUMBERS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
WORDS = ("[PAD]", "[CLS]", "[SEP]", "[UNK]", *NUMBERS, "cat", "dog")


def varint(number):
    out = b""
    while number > 0x7F:
        out += bytes([number & 0x7F | 0x80])
        number >>= 7
    return out + bytes([number])


def field(number, value):
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    data = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(data)) + data


def tensor(name, array):
    kind = FLOAT if array.dtype == np.float32 else INT64
    return (
        b"".join(field(1, size) for size in array.shape) + field(2, kind) + field(8, name) + field(9, array.tobytes())
    )


def value_info(name, kind, *sizes):
    dims = b"".join(field(1, field(2, size) if isinstance(size, str) else field(1, size)) for size in sizes)
    return field(1, name) + field(2, field(1, field(1, kind) + field(2, dims)))


def attribute(name, number):
    return field(1, name) + field(3, number) + field(20, 2)


def node(operation, inputs, output, **attributes):
    return (
        b"".join(field(1, name) for name in inputs)
        + field(2, output)
        + field(4, operation)
        + b"".join(field(5, attribute(*each)) for each in attributes.items())
    )


def model(nodes, initializers, inputs, output):
    graph = (
        b"".join(field(1, each) for each in nodes)
        + field(2, "tiny")
        + b"".join(field(5, tensor(name, array)) for name, array in initializers.items())
        + b"".join(field(11, value_info(name, INT64, "texts", "tokens")) for name in inputs)
        + field(12, output)
    )
    return field(1, 8) + field(7, graph) + field(8, field(1, "") + field(2, 17))


def encoder(table, inputs=("input_ids", "attention_mask")):
    """A model that gives each token the row of a table: (texts, tokens, dimension)."""
    nodes = [node("Gather", ["table", "input_ids"], "hidden", axis=0)]
    output = value_info("hidden", FLOAT, "texts", "tokens", table.shape[1])
    return model(nodes, {"table": table.astype(np.float32)}, inputs, output)


def scorer(table, inputs=("input_ids", "attention_mask", "token_type_ids")):
    """A model that adds up a row of a table for each token that is not padding: (texts, columns of the table)."""
    nodes = [
        node("Gather", ["table", "input_ids"], "hidden", axis=0),
        node("Cast", ["attention_mask"], "mask", to=FLOAT),
        node(
            "Unsqueeze",
            ["mask", "last"],
            "wide",
        ),
        node("Mul", ["hidden", "wide"], "kept"),
        node("ReduceSum", ["kept", "tokens"], "logits", keepdims=0),
    ]
    constants = {"table": table.astype(np.float32), "last": np.array([2]), "tokens": np.array([1])}
    return model(nodes, constants, inputs, value_info("logits", FLOAT, "texts", table.shape[1]))


def tokenizer():
    """Words by white space, marks as BERT has them."""
    made = Tokenizer(models.WordLevel({word: number for number, word in enumerate(WORDS)}, unk_token="[UNK]"))
    made.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    made.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=[("[CLS]", 1), ("[SEP]", 2)]
    )
    return made


def write_folder(folder, model_bytes):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "model.onnx").write_bytes(model_bytes)
    tokenizer().save(str(folder / "tokenizer.json"))
    return folder
