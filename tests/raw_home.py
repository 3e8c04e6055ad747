"""Every byte that a home holds, unpacked: what a person would find who looks for a text with any tool there is."""

from pathlib import Path

import pyarrow.parquet as pq
import zstandard


def unpacked(path):
    """The bytes of a file as they are, and what they say: rows of Parquet, the content of Zstandard."""
    data = path.read_bytes()
    yield data
    if data[:4] == b"PAR1":
        file = pq.ParquetFile(path)
        yield str(file.metadata.to_dict()).encode()
        yield str(file.schema_arrow).encode()
        for group in range(file.num_row_groups):
            yield repr(file.read_row_group(group).to_pylist()).encode("utf-8", "backslashreplace")
    elif data[:4] == b"\x28\xb5\x2f\xfd":
        yield zstandard.ZstdDecompressor().decompressobj().decompress(data)


def places_of(home, *texts):
    """The files under a home in which any of some texts is found, with the text."""
    wanted = [text.encode() for text in texts]
    found = []
    for path in sorted(Path(home).rglob("*")):
        if not path.is_file():
            continue
        found += [
            (str(path.relative_to(home)), text.decode())
            for text in wanted
            if text in str(path.relative_to(home)).encode() or any(text in data for data in unpacked(path))
        ]
    return found
