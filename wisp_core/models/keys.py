"""Keeps keys in the system's keyring, by the programs that the system has for it.

A key is kept under the name of the environment variable that would hold it. `keyring.json` in the home lists these
names and nothing else, so that a start asks the keyring only for what is there.
"""

import asyncio
import json
import os
import re
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from wisp_core.errors import StorageError, UsageError
from wisp_core.text import decode, displayable, one_line

LIST = "keyring.json"
SECONDS = 10.0
"""How long the keyring may take; it may ask the person to open it."""
SAID_CHARACTERS = 120
_KEY = re.compile(r"[!-~]{1,4096}")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,127}")


async def keep_key(home: Path, variable: str, *, key: str) -> None:
    """Put a key into the keyring, in place of one that was there.

    Raises:
        UsageError: it is no key, or there is no keyring.
        StorageError: the home cannot be written.
    """
    if not _KEY.fullmatch(key):
        raise UsageError("that is no key", "a key is one word of plain characters")
    if shutil.which("secret-tool"):
        about = ["secret-tool", "store", "--label", f"wisp {variable}", "application", "wisp", "variable", variable]
        status, _, said = await _run(about, key)
    elif shutil.which("security"):
        # Commands are read from the input, since every process can read an argument; the key stands there in hex.
        order = f"add-generic-password -U -s wisp -a {variable} -X {key.encode().hex()}\n"
        status, _, said = await _run(["security", "-i"], order)
    else:
        raise UsageError(
            "no keyring can be reached from here", f"install secret-tool (libsecret), or set {variable} instead"
        )
    if status != 0:
        raise UsageError(f"the keyring did not take the key{_quote(said, key)}", f"set {variable} instead")
    _remember(home, variable)


async def with_keys(home: Path, environ: Mapping[str, str]) -> tuple[dict[str, str], list[str]]:
    """Return the environment with the keys of the keyring, and a sentence for each that could not be had.

    A variable that is set is not asked for: the environment goes before the keyring.
    """
    wanted = [variable for variable in _listed(home) if not environ.get(variable, "").strip()]
    found = await asyncio.gather(*map(_look_up, wanted))
    keys = {variable: key for variable, key in zip(wanted, found, strict=True) if key}
    lost = [variable for variable in wanted if variable not in keys]
    notes = [f"the keyring does not give the key for {variable}; set it in the environment" for variable in lost]
    return {**environ, **keys}, notes


async def _look_up(variable: str) -> str:
    if shutil.which("secret-tool"):
        status, out, _ = await _run(["secret-tool", "lookup", "application", "wisp", "variable", variable])
    elif shutil.which("security"):
        status, out, _ = await _run(["security", "find-generic-password", "-s", "wisp", "-a", variable, "-w"])
    else:
        return ""
    key = out.strip()
    return key if status == 0 and _KEY.fullmatch(key) else ""


async def _run(command: Sequence[str], given: str = "") -> tuple[int, str, str]:
    """Run a program of the keyring; return its status, what it printed, and what it said was wrong."""
    pipe = asyncio.subprocess.PIPE
    try:
        process = await asyncio.create_subprocess_exec(*command, stdin=pipe, stdout=pipe, stderr=pipe)
    except OSError as error:
        return 1, "", error.strerror or ""
    try:
        async with asyncio.timeout(SECONDS):
            out, said = await process.communicate(given.encode())
    except TimeoutError:
        return 1, "", f"no answer for {SECONDS:g} s"
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    return process.returncode or 0, decode(out), decode(said)


def _quote(said: str, key: str) -> str:
    text = one_line(displayable(said.replace(key, "…").strip()), SAID_CHARACTERS)
    return f": {text}" if text else ""


def _listed(home: Path) -> list[str]:
    try:
        names = json.loads((home / LIST).read_text("utf-8"))
    except (OSError, ValueError, RecursionError):
        return []
    listed = names if isinstance(names, list) else []
    return [name for name in listed if isinstance(name, str) and _VARIABLE.fullmatch(name)]


def _remember(home: Path, variable: str) -> None:
    names = dict.fromkeys([*_listed(home), variable])
    fresh = home / f".{LIST}.{os.getpid()}"
    try:
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
        fresh.write_text(json.dumps(list(names)) + "\n", "utf-8")
        fresh.chmod(0o600)
        fresh.replace(home / LIST)
    except OSError as error:
        raise StorageError(f"{home / LIST} cannot be written ({error.strerror})") from error
    finally:
        fresh.unlink(missing_ok=True)
