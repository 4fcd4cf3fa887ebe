"""U11: a terminal that goes away takes wisp-tui with it, even when nothing more can be written to it."""

import os
import signal
import subprocess
import sys
from pathlib import Path

SCRIPT = """
import asyncio, os, signal, sys, time
from wisp_tui.ending import end_on

async def main():
    end_on((signal.SIGHUP,), lambda number: None, within=0.2)
    print("ready", flush=True)
    while True:
        time.sleep(0.05)  # the loop stands still, as when Textual waits for its dead writer

asyncio.run(main())
"""


def test_a_hang_up_ends_the_process_even_when_its_loop_stands_still(tmp_path: Path):
    process = subprocess.Popen([sys.executable, "-c", SCRIPT], stdout=subprocess.PIPE, cwd=os.getcwd())
    assert process.stdout
    assert process.stdout.readline() == b"ready\n"
    process.send_signal(signal.SIGHUP)
    assert process.wait(timeout=10) == 128 + signal.SIGHUP
    process.stdout.close()
