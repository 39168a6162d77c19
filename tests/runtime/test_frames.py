"""Frames get through whatever else is written to the pipe."""

from __future__ import annotations

import os

import pytest

from tsguard.runtime.frames import FrameReader, FrameWriter


def written(*values: dict[str, object], rubbish: bytes = b"") -> bytes:
    read_end, write_end = os.pipe()
    writer = FrameWriter(write_end, "word")
    for value in values:
        os.write(write_end, rubbish)
        writer.send(value)
    os.close(write_end)
    with os.fdopen(read_end, "rb") as file:
        return file.read()


@pytest.mark.parametrize("size", [1, 2, 7, 1000])
def test_frames_arrive_in_pieces_of_any_size(size: int) -> None:
    values = [{"event": "a", "text": "line\nfeed"}, {"event": "b", "numbers": [1, 2.5, None]}]
    data = written(*values)
    reader = FrameReader("word")
    pieces = [data[i : i + size] for i in range(0, len(data), size)]
    assert [frame for piece in pieces for frame in reader.feed(piece)] == values


@pytest.mark.parametrize(
    "rubbish",
    [
        b"no line feed",
        b"word",
        b"word {",
        b"\nword []\n",
        b'\nother {"event": "end"}\n',
        b"\x00\xff\n",
        b"\nword NaN,\n",
    ],
)
def test_rubbish_is_skipped(rubbish: bytes) -> None:
    data = written({"event": "a"}, {"event": "b"}, rubbish=rubbish)
    assert [frame["event"] for frame in FrameReader("word").feed(data)] == ["a", "b"]


def test_an_endless_line_is_dropped() -> None:
    reader = FrameReader("word")
    for _ in range(40):
        assert list(reader.feed(b"x" * 2**20)) == []
    assert list(reader.feed(written({"event": "a"}))) == [{"event": "a"}]


def test_a_forked_copy_stays_silent() -> None:
    read_end, write_end = os.pipe()
    writer = FrameWriter(write_end, "word")
    if os.fork() == 0:
        writer.send({"event": "forged"})
        os._exit(0)
    os.wait()
    writer.send({"event": "real"})
    os.close(write_end)
    with os.fdopen(read_end, "rb") as file:
        assert list(FrameReader("word").feed(file.read())) == [{"event": "real"}]
