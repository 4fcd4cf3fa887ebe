"""What every test stands on: a home of its own, no network but loopback, no child process left."""

import ipaddress
import os
import socket
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import hypothesis
import psutil
import pytest
from hypothesis.configuration import set_hypothesis_home_dir

WAIT = 5.0  # seconds in which a child that is ending may end

hypothesis.settings.register_profile(
    "wisp",
    deadline=None,  # the machine is shared: a slow example is no fault
    max_examples=50,
    database=None,
    derandomize=bool(os.environ.get("CI")),
    suppress_health_check=[hypothesis.HealthCheck.too_slow, hypothesis.HealthCheck.function_scoped_fixture],
)
hypothesis.settings.load_profile("wisp")

_contacted: list[str] = []


def _loopback(host: object) -> bool:
    text = host.decode() if isinstance(host, bytes) else host
    if text in (None, "", "localhost"):
        return True
    try:
        return ipaddress.ip_address(str(text)).is_loopback
    except ValueError:
        return False


def _guard(event: str, arguments: tuple[Any, ...]) -> None:
    """Refuse every address but loopback, and remember it; a name under `.invalid` is simply not found."""
    if event in ("socket.connect", "socket.sendto") and isinstance(arguments[1], tuple):
        host: object = arguments[1][0]
    elif event == "socket.getaddrinfo":
        host = arguments[0]
    else:
        return
    if _loopback(host):
        return
    if not str(host).endswith(".invalid"):
        _contacted.append(f"{event} {host}")
    raise socket.gaierror(socket.EAI_NONAME, "the tests reach loopback alone")


sys.addaudithook(_guard)


def _children() -> set[int]:
    """Return the ids of this process's own children."""
    tasks = Path("/proc/self/task")
    if not tasks.is_dir():
        return {child.pid for child in psutil.Process().children()}
    found: set[int] = set()
    for task in tasks.glob("*/children"):
        # A thread may end between being listed and being read.
        with suppress(FileNotFoundError, ProcessLookupError):
            found |= {int(pid) for pid in task.read_text().split()}
    return found


def _living(pids: set[int]) -> list[psutil.Process]:
    """Return those of `pids` that still run after a moment's grace; one that ended is no one's."""
    processes = []
    for pid in pids:
        try:
            process = psutil.Process(pid)
            if process.status() != psutil.STATUS_ZOMBIE and "resource_tracker" not in " ".join(process.cmdline()):
                processes.append(process)
        except psutil.Error:
            continue
    return psutil.wait_procs(processes, timeout=WAIT)[1]


@pytest.fixture(scope="session", autouse=True)
def _no_traces(tmp_path_factory: pytest.TempPathFactory) -> None:
    set_hypothesis_home_dir(tmp_path_factory.mktemp("hypothesis"))


@pytest.fixture(autouse=True)
def wisp_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home of the test's own, not made yet; `WISP_HOME` names it, and no model is set from outside."""
    home = tmp_path / "wisp-home"
    monkeypatch.setenv("WISP_HOME", str(home))
    for name in ("WISP_MODEL", "OLLAMA_HOST", "ANTHROPIC_API_KEY", "OPENAI_API_KEY", "NO_COLOR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("WISP_DISCOVERY", "0")  # what serves models on this machine is no test's business
    return home


@pytest.fixture(autouse=True)
def _nothing_left() -> Iterator[None]:
    """Fail a test that leaves a child process or tried to leave the machine."""
    before = _children()
    _contacted.clear()
    yield
    living = _living(_children() - before)
    names = [" ".join(process.cmdline())[:120] for process in living]
    for process in living:
        process.kill()
    assert not names, f"child processes were left running: {names}"
    assert not _contacted, f"something other than loopback was contacted: {_contacted}"
