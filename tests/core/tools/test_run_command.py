"""The tool run_command, with real processes."""

import asyncio
import os
import re
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import psutil
import pytest

from wisp_core.errors import ToolFailure
from wisp_core.settings import Outputs as Limits
from wisp_core.settings import Tools
from wisp_core.store.outputs import Outputs
from wisp_core.tools.budget import Budget
from wisp_core.tools.registry import Registry
from wisp_core.tools.run_command import RunCommand

CALL = "3f9a2c1b"


class Bench:
    """A registry with run_command alone, its store, and what the person was shown."""

    def __init__(self, folder, settings=None, *, enabled=True):
        self.cwd = folder / "work"
        self.cwd.mkdir()
        self.outputs = Outputs(folder / "output", "session1", limits=Limits(), enabled=enabled)
        self.tools = Registry([RunCommand(self.cwd, settings or Tools(), budget=Budget(Limits()), spools=self.outputs)])
        self.shown = []
        self.first_shown = asyncio.Event()

    def show(self, text):
        self.shown.append(text)
        self.first_shown.set()

    async def run(self, command, **given):
        return await self.tools.run("run_command", {"command": command, **given}, call=CALL, progress=self.show)

    def stored(self):
        return self.outputs.path(CALL).read_bytes()


@pytest.fixture
async def bench(tmp_path, monkeypatch):
    monkeypatch.setenv("SHELL", "/bin/sh")
    bench = Bench(tmp_path)
    yield bench
    await bench.tools.close()


def alive(word):
    """The processes whose command line holds `word`, a number that only this test uses."""
    found = []
    for process in psutil.process_iter():
        try:
            if word in process.cmdline() and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
        except psutil.Error:
            continue
    return found


async def test_the_result_is_status_stdout_stderr(bench):
    result = await bench.run("echo out; echo err >&2; exit 3")
    assert result.text == "exit status: 3\nstdout:\nout\nstderr:\nerr"
    assert (result.ok, result.exit_status, result.kept) == (False, 3, None)
    assert (result.bytes, result.lines) == (len(result.text) + 1, 5)
    assert not (bench.cwd.parent / "output").exists()


async def test_a_command_that_prints_nothing_says_so(bench):
    assert (await bench.run("true")).text == "exit status: 0\n[no output]"


async def test_the_last_line_may_be_unfinished(bench):
    assert (await bench.run("printf a; printf b >&2")).text == "exit status: 0\nstdout:\na\nstderr:\nb"


async def test_it_runs_in_the_working_directory_with_the_persons_shell(bench, tmp_path, monkeypatch):
    shell = tmp_path / "myshell"
    shell.write_text('#!/bin/sh\necho "my shell: $1 $2"\n')
    shell.chmod(0o755)
    assert str(bench.cwd) in (await bench.run("pwd")).text
    monkeypatch.setenv("SHELL", str(shell))
    assert "my shell: -c ls -l" in (await bench.run("ls -l")).text
    for none in ("", "nope", "/usr/sbin/nologin", str(tmp_path / "missing")):
        monkeypatch.setenv("SHELL", none)
        assert "plain sh" in (await bench.run("echo plain sh")).text


async def test_nothing_in_its_environment_waits_for_a_person(bench):
    text = (await bench.run("echo $PAGER $GIT_PAGER $TERM $NO_COLOR $WISP")).text
    assert "\ncat cat dumb 1 1" in text


@pytest.mark.parametrize(
    "command", ["cat", "read x; echo got $?", "cat /dev/stdin", "sh", "(echo >/dev/tty) 2>&1; true"]
)
async def test_standard_input_is_empty_and_there_is_no_terminal(bench, command):
    result = await bench.run(command, timeout=10)
    assert "timed out" not in result.text
    if "tty" in command:
        assert "/dev/tty" in result.text


async def test_a_timeout_ends_the_whole_group_and_says_so(bench):
    result = await bench.run("sleep 7101 & (sleep 7101 & wait) & sleep 7101", timeout=1)
    assert "[timed out after 1 s; the command and all that it started were ended]" in result.text
    assert not result.ok
    assert not alive("7101")


async def test_what_ignores_term_is_killed(bench):
    result = await bench.run("trap '' TERM; echo begun; while :; do sleep 0.1; done", timeout=1)
    assert "begun" in result.text
    assert result.exit_status == 137
    assert "timed out" in result.text


async def test_what_left_the_group_is_ended_too(bench):
    if not shutil.which("setsid"):
        pytest.skip("no setsid")
    await bench.run("setsid sleep 7102 & setsid sh -c 'sleep 7102 & sleep 7102' & sleep 60", timeout=1)
    assert not alive("7102")


async def test_a_background_child_does_not_hang_the_turn_and_goes_on(bench):
    os.mkfifo(bench.cwd / "fifo")
    fifo = os.open(bench.cwd / "fifo", os.O_RDWR | os.O_NONBLOCK)
    heard = asyncio.Event()
    asyncio.get_running_loop().add_reader(fifo, heard.set)
    try:
        result = await bench.run("(sleep 1; echo more; echo alive >fifo) & echo started", timeout=30)
        assert result.ok
        assert "stdout:\nstarted\n[still running in the background, its further output is not seen: " in result.text
        assert "(pid " in result.text
        # It prints into a pipe that is still read, so that is not its end.
        await asyncio.wait_for(heard.wait(), 10)
    finally:
        asyncio.get_running_loop().remove_reader(fifo)
        os.close(fifo)


async def test_a_silent_background_child_is_told_of(bench):
    result = await bench.run("sleep 7104 >/dev/null 2>&1 & echo started")
    try:
        assert "[still running in the background" in result.text
    finally:
        for process in alive("7104"):
            process.kill()


async def test_cancelling_leaves_nothing_alive(bench):
    running = asyncio.ensure_future(
        bench.run("setsid sleep 7105 & sleep 7105 & trap '' TERM; echo begun; while :; do sleep 0.1; done")
    )
    await asyncio.wait_for(bench.first_shown.wait(), 10)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert not alive("7105")
    assert not (bench.cwd.parent / "output").exists()


async def test_cancelling_while_it_starts_leaves_nothing_alive(bench):
    for turns in range(6):
        running = asyncio.ensure_future(bench.run("sleep 7106"))
        for _ in range(turns):
            await asyncio.sleep(0)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
    assert not alive("7106")


async def test_no_pipe_is_left_open(bench):
    await bench.run("true")
    before = len(os.listdir("/proc/self/fd")) if Path("/proc/self/fd").is_dir() else 0
    for _ in range(5):
        await bench.run("echo a; echo b >&2")
        await bench.run("sleep 5", timeout=1) if _ == 0 else None
    await asyncio.sleep(0)
    after = len(os.listdir("/proc/self/fd")) if before else 0
    assert after <= before


@pytest.mark.parametrize(
    ("command", "status", "said"), [("kill -SEGV $$", 139, "SIGSEGV"), ("nosuchcommand7", 127, "stderr")]
)
async def test_a_signal_is_named_and_a_missing_command_is_a_status(bench, command, status, said):
    result = await bench.run(command)
    assert result.exit_status == status
    assert said in result.text


async def test_output_streams_to_the_person_while_it_runs(bench):
    running = asyncio.ensure_future(bench.run("echo early; while [ ! -e go ]; do sleep 0.05; done; echo late"))
    await asyncio.wait_for(bench.first_shown.wait(), 10)
    assert bench.shown == ["early\n"]
    (bench.cwd / "go").touch()
    await running
    assert "".join(bench.shown) == "early\nlate\n"


async def test_a_flood_is_shown_in_bounded_parts(bench):
    await bench.run("head -c 20000000 /dev/zero | tr '\\0' 'y'")
    assert all(len(part) < 9000 for part in bench.shown)
    assert sum(map(len, bench.shown)) < 2_000_000
    assert any("[…]" in part for part in bench.shown)


async def test_a_character_split_between_reads_is_shown_whole(bench):
    await bench.run("printf '\\303'; sleep 0.3; printf '\\251'")
    assert "".join(bench.shown) == "é"


async def test_a_larger_result_is_kept_whole_and_its_lines_are_those_of_the_store(bench):
    result = await bench.run("seq 20000; echo problem >&2; exit 1")
    stored = bench.stored()
    assert (
        stored == b"exit status: 1\nstdout:\n" + b"".join(b"%d\n" % n for n in range(1, 20001)) + b"stderr:\nproblem\n"
    )
    assert result.kept == bench.outputs.record(CALL)
    assert (result.bytes, result.lines) == (len(stored), 20_004)
    assert len(result.text.encode()) <= 4096
    first, last = result.text.rsplit("stdout lines ", 1)[1].split(" ")[0].replace(",", "").split("–")
    lines = stored.split(b"\n")
    assert f"\n{lines[int(first) - 2].decode()}\n[… " in result.text
    assert f" held back …]\n{lines[int(last)].decode()}\n" in result.text
    assert result.text.endswith("kept as output 3f9a2c1b (20,004 lines); do not run the command again to see it")


async def test_without_the_audit_nothing_is_kept_and_the_note_says_so(tmp_path):
    bench = Bench(tmp_path, enabled=False)
    result = await bench.run("seq 20000")
    assert result.kept is None
    assert result.text.endswith("; not kept (the audit is off)")
    assert not (tmp_path / "output").exists()


async def test_a_home_that_cannot_be_written_is_said_and_the_result_comes(bench):
    (bench.cwd.parent / "output").write_text("in the way")
    result = await bench.run("seq 100000")
    assert result.kept is None
    assert "; not kept (" in result.text
    assert "100000" in result.text


async def test_a_size_of_its_own_replaces_the_budget(tmp_path):
    bench = Bench(tmp_path, Tools(command_max_output_bytes=512))
    result = await bench.run("seq 20000; seq 20000 >&2; printf '\\0'; sleep 9", timeout=1)
    assert len(result.text.encode()) <= 512
    assert "timed out" in result.text
    assert "output 3f9a2c1b" in result.text


async def test_binary_output_is_said(bench):
    result = await bench.run("printf 'a\\0b'; printf '\\377\\376\\375' >&2")
    assert "\x00" not in result.text
    assert "[stdout and stderr: binary" in result.text
    assert "binary" not in (await bench.run("printf 'caf\\303\\251 and one \\377 byte'")).text


async def test_a_working_directory_that_is_gone_is_one_clear_sentence(bench):
    bench.cwd.rmdir()
    with pytest.raises(ToolFailure, match=r"the working directory .* is gone"):
        await bench.run("ls")


async def test_a_command_that_is_too_long_is_one_clear_sentence(bench):
    with pytest.raises(ToolFailure, match="could not be started: it is too long"):
        await bench.run("echo " + "x" * 3_000_000)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [("{}", "needs command"), ('{"command": "  "}', "a shell command"), ('{"command": "ls", "timeout": 1801}', "1800")],
)
def test_wrong_arguments_say_what_was_expected(tmp_path, arguments, said):
    with pytest.raises(ToolFailure, match=said):
        Bench(tmp_path).tools.check("run_command", arguments)


async def test_the_longest_time_of_the_settings_holds(tmp_path):
    bench = Bench(tmp_path, Tools(command_timeout_max=1.0))
    assert "[timed out after 1 s" in (await bench.run("sleep 30", timeout=100)).text


async def test_a_conversation_without_a_store_still_runs(tmp_path):
    off = Outputs(tmp_path / "output", "session1", limits=Limits(), enabled=False)
    tools = Registry([RunCommand(tmp_path, Tools(), budget=Budget(Limits()), spools=off)])
    result = await tools.run("run_command", {"command": "seq 9000"}, call=CALL, progress=print)
    assert result.text.endswith("; not kept (the audit is off)")


FLOOD = """
import asyncio, resource, sys, time
from pathlib import Path
from wisp_core.settings import Outputs as Limits, Tools
from wisp_core.store.outputs import Outputs
from wisp_core.tools.budget import Budget
from wisp_core.tools.registry import Registry
from wisp_core.tools.run_command import RunCommand
import psutil

async def main(folder):
    outputs = Outputs(folder / "output", "session1", limits=Limits())
    tools = Registry([RunCommand(folder, Tools(), budget=Budget(Limits()), spools=outputs)])
    await tools.run("run_command", {"command": "seq 10000"}, call="00000001", progress=lambda text: None)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    beats = 0
    async def beat():
        nonlocal beats
        while True:
            await asyncio.sleep(0.01)
            beats += 1
    beating = asyncio.ensure_future(beat())
    command = "printf 'first\\\\n'; head -c 1G /dev/zero | tr '\\\\0' 'x' | fold -w 999; printf '\\\\nlast\\\\n'"
    result = await tools.run("run_command", {"command": command}, call="00000002", progress=lambda text: None)
    beating.cancel()
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    print(grown, beats, result.kept.bytes, result.kept.lines, result.kept.cut_after, result.kept.cut_until)
    print(result.text.splitlines()[2], result.text.splitlines()[-2], sep="\\n")

asyncio.run(main(Path(sys.argv[1])))
"""


def test_a_command_that_prints_a_gigabyte_costs_less_than_64_mib_and_the_loop_lives(tmp_path):
    script = tmp_path / "flood.py"
    script.write_text(textwrap.dedent(FLOOD))
    root = Path(__file__).parents[3]
    ran = subprocess.run(
        [sys.executable, str(script), str(tmp_path)],
        env={**os.environ, "PYTHONPATH": str(root), "SHELL": "/bin/sh"},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert ran.returncode == 0, ran.stderr
    figures, first, last = ran.stdout.splitlines()
    grown_kib, beats, size, lines, after, until = map(int, figures.split())
    assert grown_kib < 64 * 1024
    assert beats > 10
    assert (first, last) == ("first", "last")
    stored = (tmp_path / "output" / "session1" / "00000002").read_bytes()
    assert len(stored) == size
    assert 16 * 1024**2 - 128 * 1024 < size < 16 * 1024**2 + 256
    assert stored.count(b"\n") == lines
    assert stored.startswith(b"exit status: 0\nstdout:\nfirst\n")
    assert stored.endswith(b"\nlast\n")
    marker = stored.split(b"\n")[after].decode()
    assert marker.startswith(f"[… lines {after + 1:,}–{until - 1:,} (")
    assert marker.endswith(") not kept: an output is kept up to 16 MiB …]")


@pytest.mark.parametrize(
    "command",
    [
        "seq 30000",
        "seq 30000; seq 5 >&2",
        "seq 5; seq 30000 >&2",
        "seq 30000; seq 30000 >&2",
        "seq 9000; seq 3000 >&2",
        "head -c 200000 /dev/zero | tr '\\0' x; echo; seq 3000 >&2",
        "seq 3000; head -c 200000 /dev/zero | tr '\\0' x >&2",
    ],
)
async def test_the_notes_lines_are_the_stores_where_the_store_has_left_some_out(tmp_path, command):
    limits = Limits(file_bytes=32768, head_bytes=24576, tail_bytes=8192)
    outputs = Outputs(tmp_path / "output", "session1", limits=limits)
    tools = Registry([RunCommand(tmp_path, Tools(), budget=Budget(limits), spools=outputs)])
    result = await tools.run("run_command", {"command": command}, call=CALL, progress=print)
    assert result.kept.cut
    assert f"; the output is kept without its middle as output {CALL} ({result.kept.lines:,} lines);" in result.text
    stored = outputs.path(CALL).read_bytes().decode().split("\n")
    assert stored[result.kept.cut_after].startswith("[… line")
    *body, note = result.text.split("\n")
    markers = [place for place, line in enumerate(body) if line.startswith("[… ")]
    ranges = re.findall(r"(?:stdout|stderr) lines? ([\d,]+)(?:–([\d,]+))?", note)
    assert len(markers) == len(ranges) >= 1
    for marker, (first, last) in zip(markers, ranges, strict=True):
        first, last = int(first.replace(",", "")), int((last or first).replace(",", ""))
        left_out = result.kept.cut_after + 1
        # The shown lines around the marker are the stored ones around the range; a cut line is in part on both sides.
        above, below = stored[first - 2], stored[last]
        assert body[marker - 1] == above or stored[first - 1].startswith(body[marker - 1]) or first == left_out
        assert body[marker + 1] == below or stored[last - 1].endswith(body[marker + 1]) or last == left_out
        assert 3 <= first <= last <= result.kept.lines
