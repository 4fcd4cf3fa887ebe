"""Whether a process still runs, told by its number and its start."""

import psutil

# A process's start is worked out from the boot time, which moves a little when the clock is set.
_SAME_START_SECONDS = 2.0


def lives(pid: int, started: float) -> bool:
    """Tell whether the process that had `pid` and began at `started` (seconds since 1970) still runs."""
    try:
        process = psutil.Process(pid)
        same = bool(abs(process.create_time() - started) < _SAME_START_SECONDS)
        return same and bool(process.status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False
    except psutil.AccessDenied:
        return True
