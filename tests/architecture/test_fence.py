"""The fence around the tests: it refuses every address but loopback, and sees what a run leaves behind."""

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from tests import run
from tests.conftest import _contacted, _loopback


def test_a_test_that_reaches_for_another_machine_is_refused_and_found_out() -> None:
    with socket.socket() as caller, pytest.raises(OSError, match="loopback"):
        caller.connect(("203.0.113.1", 80))
    assert _contacted == ["socket.connect 203.0.113.1"]
    _contacted.clear()


def test_a_name_under_invalid_is_simply_not_found() -> None:
    with pytest.raises(socket.gaierror):
        socket.getaddrinfo("nowhere.invalid", 80)
    assert not _contacted


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.8.8", "::1", "localhost", "", None, b"127.0.0.1"])
def test_loopback_may_be_reached(host: object) -> None:
    assert _loopback(host)


def test_a_process_of_the_run_is_found_even_when_it_began_a_session_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "WAIT", 0.1)
    orphan = "import os, sys; print('ready', flush=True); sys.stdin.read()"
    with subprocess.Popen(
        [sys.executable, "-c", orphan],
        env=os.environ | {run.MARK: "fence-test"},
        start_new_session=True,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        assert [line.split()[0] for line in run.left_processes("fence-test")] == [str(process.pid)]
        assert process.wait() == -signal.SIGKILL


def test_what_the_tests_see_is_made_for_the_run(tmp_path: Path) -> None:
    seen = run.environment(tmp_path, "mark")
    assert all(Path(seen[name]).is_relative_to(tmp_path) for name in ("HOME", "WISP_HOME", "TMPDIR"))
    assert "SSH_AUTH_SOCK" not in seen
