"""Searches files for a pattern in a process of its own, so that a pattern that never ends can be ended.

Run as a program: pattern, bytes to print at most; names on standard input, each ended by NUL. It prints for each line
found `name NUL number : text LF`, the text cut around the match.
"""

import os
import re
import stat
import sys
from collections.abc import Iterator

LINE_BYTES = 1024 * 1024
SAMPLE_BYTES = 8192
SHOWN_CHARACTERS = 300
BEFORE_CHARACTERS = 80


def main(pattern: str, most: int) -> int:
    """Search the files that standard input names; return 0."""
    found = re.compile(pattern)
    printed = 0
    for name in sys.stdin.buffer.read().split(b"\0")[:-1]:
        for line in _search(name, found):
            printed += len(line)
            sys.stdout.buffer.write(line)
            if printed > most:
                return 0
        # What was found is told before the next file, which may take for ever.
        sys.stdout.buffer.flush()
    return 0


def _search(name: bytes, found: re.Pattern[str]) -> Iterator[bytes]:
    try:
        if not stat.S_ISREG(os.lstat(name).st_mode):
            return
        fd = os.open(name, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return
    with open(fd, "rb") as file:
        try:
            if b"\0" in file.read(SAMPLE_BYTES):
                return
            file.seek(0)
            number = 0
            # A line without an end in sight is searched in pieces, under one number.
            whole = True
            while data := file.readline(LINE_BYTES):
                number += whole
                whole = data.endswith(b"\n")
                text = data.decode("utf-8", "replace").rstrip("\r\n")
                if match := found.search(text):
                    yield b"%s\0%d:%s\n" % (name, number, _around(text, match.start()).encode())
        except OSError:
            return


def _around(text: str, start: int) -> str:
    begin = max(0, start - BEFORE_CHARACTERS) if len(text) > SHOWN_CHARACTERS else 0
    end = begin + SHOWN_CHARACTERS
    return ("…" if begin else "") + text[begin:end] + ("…" if end < len(text) else "")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], int(sys.argv[2])))
