"""The file of the settings, `config.json`: read as it stands, and added to."""

import fcntl
import json
import os
from pathlib import Path

from wisp_core.errors import SettingsError
from wisp_core.records import JsonObject


def remember_rule(home: Path, rule: str) -> None:
    """Add a rule to `permissions.allow` of `config.json`, the rest of it as it is, so that a crash leaves the old one.

    Where that is a link the file that it leads to is written. Two that add at once add both.

    Raises:
        SettingsError: the file is no JSON object with a list there, or cannot be written; it is as it was.
    """
    path = Path(os.path.realpath(home / "config.json"))
    try:
        folder = os.open(home, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            fcntl.flock(folder, fcntl.LOCK_EX)
            raw = read_object(path)
            permissions = raw.setdefault("permissions", {})
            allowed = permissions.setdefault("allow", []) if isinstance(permissions, dict) else None
            if not isinstance(allowed, list):
                raise SettingsError(f"{path}: `permissions.allow` is no list of rules", "mend it or remove it")
            if rule not in allowed:
                allowed.append(rule)
                _write(path, raw)
        finally:
            os.close(folder)
    except OSError as error:
        raise SettingsError(f"{path} cannot be written ({error.strerror})") from error


def _write(path: Path, raw: JsonObject) -> None:
    if path.exists() and not os.access(path, os.W_OK):
        raise SettingsError(f"{path} cannot be written (it is read-only)")
    fresh = path.with_name(f".config.json.{os.getpid()}")
    fd = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
    try:
        with open(fd, "w", encoding="utf-8") as file:
            json.dump(raw, file, ensure_ascii=False, indent=2)
            file.write("\n")
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(path)
    finally:
        fresh.unlink(missing_ok=True)


def read_object(path: Path) -> JsonObject:
    """Return the JSON object of a file, empty where there is none.

    Raises:
        SettingsError: it cannot be read, or holds none.
    """
    try:
        if path.exists() and not path.is_file():
            # A pipe would be waited for.
            raise SettingsError(f"{path} is no file", "move it away")
        raw = json.loads(path.read_text("utf-8-sig"))
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise SettingsError(f"{path} cannot be read ({error.strerror})") from error
    except (ValueError, RecursionError) as error:
        raise SettingsError(f"{path} is no JSON ({_where(error)})", "mend it or move it away") from error
    if not isinstance(raw, dict):
        raise SettingsError(f"{path} must hold a JSON object", "begin with { and end with }")
    return raw


def _where(error: ValueError | RecursionError) -> str:
    match error:
        case json.JSONDecodeError():
            return f"line {error.lineno}, column {error.colno}"
        case UnicodeDecodeError():
            return f"byte {error.start} is no UTF-8"
        case RecursionError():
            return "it is nested too deep"
        case _:
            return "a number in it is too long"
