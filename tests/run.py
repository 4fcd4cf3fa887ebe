"""Runs the whole suite in a temporary home and fails when a process or a file outside that home is left."""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import psutil

CHECKOUT = Path(__file__).parent.parent
MARK = "WISP_TEST_RUN"
WAIT = 5.0  # seconds in which a process that is ending may end
PASSED_ON = ("PATH", "LANG", "LC_ALL", "CI", "PYTHON", "SSL_CERT_FILE")


def main(arguments: list[str]) -> int:
    """Run pytest with `arguments`; return its exit status, or 1 where something was left behind."""
    folder = Path(tempfile.mkdtemp(prefix="wisp-test-"))
    mark = folder.name
    before = files_outside()
    try:
        status = subprocess.call(
            [sys.executable, "-m", "pytest", *arguments], cwd=CHECKOUT, env=environment(folder, mark)
        )
        processes = left_processes(mark)
        files = sorted(files_outside() - before)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    for line in processes:
        print(f"a process was left running: {line}")
    for line in files:
        print(f"a file was left outside the temporary folder: {line}")
    return status or (1 if processes or files else 0)


def environment(folder: Path, mark: str) -> dict[str, str]:
    """Return what the tests see: a home, a wisp home and a temporary folder that all go with `folder`."""
    for name in ("home", "wisp", "tmp"):
        (folder / name).mkdir()
    kept = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
    return kept | {
        "HOME": str(folder / "home"),
        "WISP_HOME": str(folder / "wisp"),
        "TMPDIR": str(folder / "tmp"),
        "TERM": "xterm-256color",
        "PYTHONDONTWRITEBYTECODE": "1",
        MARK: mark,
    }


def left_processes(mark: str) -> list[str]:
    """Return one line for each process of this run that still lives, after ending it."""
    found = [process for process in psutil.process_iter() if carries(process, mark)]
    _, living = psutil.wait_procs(found, timeout=WAIT)
    lines = []
    for process in living:
        try:
            lines.append(f"{process.pid} {' '.join(process.cmdline())[:120]}")
            process.kill()
        except psutil.NoSuchProcess:
            continue
    return lines


def carries(process: psutil.Process, mark: str) -> bool:
    """Tell whether a process was started by this run: the mark is in its environment."""
    try:
        return process.environ().get(MARK) == mark
    except psutil.Error:
        return False


def files_outside() -> set[str]:
    """Return what git sees changed in the checkout, and what stands in the real home and wisp's folder there."""
    home = Path.home()
    found = {str(path) for folder in (home, home / ".wisp") if folder.is_dir() for path in folder.iterdir()}
    if (CHECKOUT / ".git").exists() and shutil.which("git"):
        command = ["git", "status", "--porcelain", "--untracked-files=all"]
        status = subprocess.run(command, cwd=CHECKOUT, capture_output=True, text=True, check=False)
        found |= set(status.stdout.splitlines())
    return found


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
