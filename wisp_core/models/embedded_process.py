"""Runs the embedded model's server as a child process."""

import json
import subprocess
import sys
import threading
from pathlib import Path

from wisp_core.errors import NoModelError, UnreachableError
from wisp_core.models.failures import quote
from wisp_core.records import JsonObject

START_SECONDS = 120.0
"""How long loading may take."""
END_SECONDS = 1.0
"""How long the child is given to end by itself."""
OTHERWISE = 'run `make setup`, or connect a server under "endpoints" in config.json'
"""What to do where the embedded model cannot be run."""

_CHILD = Path(__file__).with_name("embedded_child.py")


class Child:
    """One child process; it ends with `stop`, and by itself when this process is gone."""

    def __init__(self, config: JsonObject) -> None:
        self._config = config
        self._lock = threading.Lock()
        self._stopped = False
        self._serves = False
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int | None:
        """The process's id, None before it is started."""
        return self._process.pid if self._process else None

    def start(self) -> str:
        """Start it and return its address; this blocks until the model is loaded.

        Raises:
            ModelError: it cannot be loaded, ended, or took too long.
        """
        with self._lock:
            if self._stopped:
                raise UnreachableError("the embedded model was stopped")
            # Its own session keeps the terminal's Ctrl+C from it; the key goes in by a pipe, where nobody sees it.
            self._process = process = subprocess.Popen(
                [sys.executable, "-P", str(_CHILD)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
        late = threading.Timer(START_SECONDS, process.kill)
        late.start()
        try:
            line = self._exchange(process)
        finally:
            late.cancel()
        try:
            said = json.loads(line)
        except ValueError:
            said = {}
        if isinstance(said, dict) and isinstance(said.get("address"), str):
            self._serves = True
            return str(said["address"])
        self.stop()
        if isinstance(said, dict) and said.get("error"):
            raise NoModelError(f"the embedded model cannot be loaded ({quote(str(said['error']))})", OTHERWISE)
        raise UnreachableError(f"the embedded model's process ended while loading (status {process.returncode})")

    def ended(self, wait: float = 0.0) -> bool:
        """Tell whether it has ended, waiting up to `wait` seconds for it to."""
        if self._process is None:
            return False
        try:
            self._process.wait(wait)
        except subprocess.TimeoutExpired:
            return False
        return True

    def stop(self) -> None:
        """End it surely: its input is closed, and it is killed when it stays or is still loading."""
        with self._lock:
            self._stopped = True
            process = self._process
        if process is None:
            return
        try:
            if process.stdin:
                process.stdin.close()
        except OSError:
            pass  # it is gone already
        if not self._serves or not self.ended(END_SECONDS):
            process.kill()
            process.wait()
        if process.stdout:
            process.stdout.close()

    def _exchange(self, process: subprocess.Popen[bytes]) -> bytes:
        if process.stdin is None or process.stdout is None:
            return b""
        try:
            process.stdin.write(json.dumps(self._config).encode() + b"\n")
            process.stdin.flush()
            return process.stdout.readline()
        except (OSError, ValueError):
            return b""  # it ended, or `stop` closed the pipes
