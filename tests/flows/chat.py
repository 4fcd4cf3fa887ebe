"""Runs `wisp chat` as a program would: its own process, its own home, what it prints."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

TIMEOUT = 60.0  # seconds in which any conversation of these tests must end


@dataclass
class Chat:
    """A home and a working folder in which `wisp chat` is run again and again."""

    root: Path
    environ: dict[str, str] = field(default_factory=dict)

    @property
    def home(self) -> Path:
        return self.root / "home"

    @property
    def cwd(self) -> Path:
        (self.root / "work").mkdir(exist_ok=True)
        return self.root / "work"

    def script(self, *replies: dict[str, Any], **settings: Any) -> str:
        """Write a scripted model's file and return the model's name."""
        path = self.root / f"script{len(list(self.root.glob('script*')))}.json"
        path.write_text(json.dumps({"replies": list(replies), **settings}))
        return f"scripted:{path}"

    def configure(self, **settings: Any) -> None:
        self.home.mkdir(mode=0o700, exist_ok=True)
        (self.home / "config.json").write_text(json.dumps(settings))

    def environment(self) -> dict[str, str]:
        kept = {k: v for k, v in os.environ.items() if k in ("PATH", "HOME", "LANG", "PYTHONPATH", "VIRTUAL_ENV")}
        return {**kept, "WISP_HOME": str(self.home), "WISP_DISCOVERY": "0", "PYTHONWARNINGS": "error", **self.environ}

    def start(self, *arguments: str) -> "subprocess.Popen[bytes]":
        return subprocess.Popen(
            [sys.executable, "-m", "wisp_core", "chat", *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=self.cwd,
            env=self.environment(),
        )

    def run(self, *arguments: str, typed: str = "") -> "Ran":
        process = self.start(*arguments)
        out, err = process.communicate(typed.encode(), timeout=TIMEOUT)
        return Ran(process.returncode, out.decode(), err.decode())

    def wisp(self, *arguments: str) -> "Ran":
        done = subprocess.run(
            [sys.executable, "-m", "wisp_core", *arguments],
            check=False,
            capture_output=True,
            timeout=TIMEOUT,
            cwd=self.cwd,
            env=self.environment(),
            stdin=subprocess.DEVNULL,
        )
        return Ran(done.returncode, done.stdout.decode(), done.stderr.decode())

    def audit(self) -> list[dict[str, Any]]:
        """Return every event of the home's audit, oldest session first."""
        lines: list[dict[str, Any]] = []
        for path in sorted((self.home / "audit").glob("*.jsonl")):
            lines += [json.loads(line) for line in path.read_bytes().split(b"\n") if line]
        return lines

    def audit_after_repair(self) -> list[dict[str, Any]]:
        """Return every whole event of the audit; a torn last line is what the next start cuts off."""
        lines: list[dict[str, Any]] = []
        for path in sorted((self.home / "audit").glob("*.jsonl")):
            *whole, _ = path.read_bytes().split(b"\n")
            lines += [json.loads(line) for line in whole]
        return lines


@dataclass(frozen=True)
class Ran:
    """What a run left: its exit status and what it printed."""

    status: int
    out: str
    err: str

    def objects(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.out.split("\n") if line]

    def events(self, name: str) -> list[dict[str, Any]]:
        return [found for found in self.objects() if found["event"] == name]
