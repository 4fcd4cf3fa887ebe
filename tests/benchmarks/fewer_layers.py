"""Writes a GGUF model again with its first layers alone: the same tokenizer and server, a fraction of the work."""

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import BinaryIO

ALIGNMENT = 32  # bytes; what GGUF takes where the file names none, as the embedded model does not
_WIDTHS = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}
_WHOLE, _STRING, _ARRAY = 4, 8, 9


@dataclass(frozen=True, slots=True)
class Tensor:
    """One tensor's description: `shape` is its dimensions and type as the file has them, the rest in bytes."""

    name: bytes
    shape: bytes
    offset: int
    size: int


def write_first_layers(source: Path, target: Path, *, layers: int, window: int) -> None:
    """Write to `target` the model `source` with its first `layers` layers, as one that takes `window` tokens."""
    numbers = {b"block_count": layers, b"context_length": window}
    with source.open("rb") as file:
        magic, tensors, pairs = struct.unpack("<8sQQ", file.read(24))
        told = b"".join(_pair(file, numbers) for _ in range(pairs))
        described = [_describe(file) for _ in range(tensors)]
        start = _aligned(file.tell())
        kept = [tensor for tensor in _sized(described, source.stat().st_size - start) if _layer(tensor) < layers]
        with target.open("wb") as made:
            made.write(struct.pack("<8sQQ", magic, len(kept), pairs) + told)
            offset = 0
            for tensor in kept:
                made.write(_text(tensor.name) + tensor.shape + struct.pack("<Q", offset))
                offset += tensor.size
            made.write(bytes(_aligned(made.tell()) - made.tell()))
            for tensor in kept:
                file.seek(start + tensor.offset)
                made.write(file.read(tensor.size))


def _pair(file: BinaryIO, numbers: dict[bytes, int]) -> bytes:
    """Return a key with its value as they stand, but for the numbers that are given by the end of their key."""
    name = _read_text(file)
    kind = struct.unpack("<I", file.read(4))[0]
    value = _value(file, kind)
    number = numbers.get(name.rpartition(b".")[2])
    if number is not None and kind == _WHOLE:
        value = struct.pack("<I", number)
    return _text(name) + struct.pack("<I", kind) + value


def _value(file: BinaryIO, kind: int) -> bytes:
    if kind == _STRING:
        return _text(_read_text(file))
    if kind == _ARRAY:
        head = file.read(12)
        inner, count = struct.unpack("<IQ", head)
        return head + b"".join(_value(file, inner) for _ in range(count))
    return file.read(_WIDTHS[kind])


def _describe(file: BinaryIO) -> tuple[bytes, bytes, int]:
    name = _read_text(file)
    dimensions = file.read(4)
    shape = dimensions + file.read(8 * struct.unpack("<I", dimensions)[0] + 4)
    return name, shape, struct.unpack("<Q", file.read(8))[0]


def _sized(described: list[tuple[bytes, bytes, int]], end: int) -> Iterator[Tensor]:
    """Yield the tensors with their sizes, up to where the next begins; they lie one behind the other."""
    ends = [after for _, (_, _, after) in pairwise(described)] + [end]
    for (name, shape, offset), after in zip(described, ends, strict=True):
        yield Tensor(name, shape, offset, after - offset)


def _layer(tensor: Tensor) -> int:
    """Return the layer that a tensor belongs to, -1 where it is of none."""
    first, number, *_ = [*tensor.name.split(b"."), b""]
    return int(number) if first == b"blk" else -1


def _read_text(file: BinaryIO) -> bytes:
    return file.read(struct.unpack("<Q", file.read(8))[0])


def _text(text: bytes) -> bytes:
    return struct.pack("<Q", len(text)) + text


def _aligned(place: int) -> int:
    return -(-place // ALIGNMENT) * ALIGNMENT
