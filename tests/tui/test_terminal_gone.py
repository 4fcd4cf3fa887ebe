"""U11: a terminal that goes away takes wisp-tui with it, even when nothing more can be written to it."""

import os
import signal
import subprocess
import sys
from pathlib import Path

from tests.tui.face import script
from tests.tui.terminal import terminal

LEADER = """
import pathlib, signal, subprocess, sys
signal.signal(signal.SIGHUP, lambda *_: None)
status = subprocess.call([sys.executable, "-m", "wisp_tui", *sys.argv[2:]])
pathlib.Path(sys.argv[1]).write_text(str(status))
"""
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


def test_a_terminal_that_goes_away_ends_wisp_tui_though_only_the_program_that_started_it_is_told(tmp_path: Path):
    told = tmp_path / "status"
    model = script(tmp_path, {"text": "hi"})
    with terminal(str(told), "--model", model, program=LEADER, cwd=tmp_path) as run:
        run.until(b"ready", b"Help")
        os.close(run.fd)
        run.fd = os.open(os.devnull, os.O_RDWR)
        run.status = os.waitstatus_to_exitcode(os.waitpid(run.pid, 0)[1])
    assert told.read_text() == str(128 + signal.SIGHUP)
