"""Looks at the machine with psutil, each topic as lines; a process's own words are made one visible line."""

import socket
import time
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from pathlib import Path

import psutil

from wisp_core.text import byte_size, one_line, revealed, sound

CPU_SECONDS = 0.3
SHOWN_PROCESSES = 15
SHOWN_NAME_CHARACTERS = 60


def ports() -> list[str]:
    """Return the listening ports, each with its process where the system tells it."""
    found: set[tuple[int, str, str]] = set()
    for protocol, address, port, pid in _listening():
        found.add((port, f"{protocol} {address}:{port}", _named(pid)))
    lines = [f"{place}  {process}" for _, place, process in sorted(found)]
    return lines or ["[nothing listens]"]


def disk() -> list[str]:
    """Return how full each file system is, and that of the working directory and the home."""
    lines: dict[str, str] = {}
    mounted = [(part.mountpoint, f" ({part.fstype})") for part in psutil.disk_partitions(all=False)]
    for place, kind in [*mounted, ("/", ""), (str(Path.home()), "")]:
        with suppress(OSError):
            usage = psutil.disk_usage(place)
            used = f"{byte_size(usage.used)} of {byte_size(usage.total)} used ({usage.percent:g} %)"
            lines.setdefault(place, f"{_safe(place)}{kind}: {used}, {byte_size(usage.free)} free")
    return list(lines.values())


def processes() -> list[str]:
    """Return the processes that use most of the processors over a moment, and those that use most memory."""
    running = list(psutil.process_iter(["name", "memory_info"]))
    for process in running:
        with suppress(psutil.Error):
            process.cpu_percent()
    time.sleep(CPU_SECONDS)
    rows: list[tuple[float, int, int, str]] = []
    for process in running:
        with suppress(psutil.Error):
            memory = process.info["memory_info"]
            rows.append((process.cpu_percent(), memory.rss if memory else 0, process.pid, _safe(process.name())))
    load = " ".join(f"{value:.2f}" for value in psutil.getloadavg())
    lines = [f"{len(rows)} processes, {psutil.cpu_count()} processors, load {load}", "by processor:"]
    lines += [_row(row) for row in sorted(rows, key=lambda row: (-row[0], row[2]))[:SHOWN_PROCESSES]]
    lines.append("by memory:")
    return lines + [_row(row) for row in sorted(rows, key=lambda row: (-row[1], row[2]))[:SHOWN_PROCESSES]]


def memory() -> list[str]:
    """Return how much memory and swap is used."""
    found, swap = psutil.virtual_memory(), psutil.swap_memory()
    lines = [
        f"memory: {byte_size(found.total - found.available)} of {byte_size(found.total)} used ({found.percent:g} %), "
        f"{byte_size(found.available)} available"
    ]
    if not swap.total:
        return [*lines, "swap: none"]
    return [*lines, f"swap: {byte_size(swap.used)} of {byte_size(swap.total)} used ({swap.percent:g} %)"]


def battery() -> list[str]:
    """Return how full the battery is and for how long it lasts."""
    found = psutil.sensors_battery() if hasattr(psutil, "sensors_battery") else None
    if found is None:
        return ["[there is no battery]"]
    if found.power_plugged:
        return [f"battery: {found.percent:.0f} %, plugged in"]
    left = f", {timedelta(seconds=int(found.secsleft))} left" if found.secsleft and found.secsleft > 0 else ""
    return [f"battery: {found.percent:.0f} %, not plugged in{left}"]


def network() -> list[str]:
    """Return the network interfaces with their state, addresses and bytes."""
    states, counts = psutil.net_if_stats(), psutil.net_io_counters(pernic=True)
    lines: list[str] = []
    for name, addresses in sorted(psutil.net_if_addrs().items()):
        shown = [each.address for each in addresses if each.family in (socket.AF_INET, socket.AF_INET6)]
        state = "up" if name in states and states[name].isup else "down"
        moved = counts.get(name)
        traffic = f", {byte_size(moved.bytes_recv)} in, {byte_size(moved.bytes_sent)} out" if moved else ""
        lines.append(f"{_safe(name)}: {state}, {', '.join(shown) or 'no address'}{traffic}")
    return lines or ["[there is no network interface]"]


LOOKS: dict[str, Callable[[], list[str]]] = {
    "ports": ports,
    "disk": disk,
    "processes": processes,
    "memory": memory,
    "battery": battery,
    "network": network,
}


def _listening() -> list[tuple[str, str, int, int | None]]:
    """Return protocol, address, port and process of each socket that listens, or takes datagrams."""
    connections: list[tuple[object, int | None]] = []
    try:
        connections = [(each, each.pid) for each in psutil.net_connections(kind="inet")]
    except (psutil.Error, OSError):
        # Some systems show a person only the sockets of their own processes.
        for process in psutil.process_iter():
            with suppress(psutil.Error, OSError):
                connections += [(each, process.pid) for each in process.net_connections(kind="inet")]
    found: list[tuple[str, str, int, int | None]] = []
    for each, pid in connections:
        stream = each.type == socket.SOCK_STREAM  # type: ignore[attr-defined]
        waiting = each.status == psutil.CONN_LISTEN if stream else not each.raddr  # type: ignore[attr-defined]
        if waiting and each.laddr:  # type: ignore[attr-defined]
            address = each.laddr.ip  # type: ignore[attr-defined]
            shown = f"[{address}]" if ":" in address else address
            found.append(("tcp" if stream else "udp", shown, each.laddr.port, pid))  # type: ignore[attr-defined]
    return found


def _named(pid: int | None) -> str:
    if pid is None:
        return "(a process that is not shown to you)"
    with suppress(psutil.Error):
        return f"{_safe(psutil.Process(pid).name())} (pid {pid})"
    return f"(pid {pid})"


def _row(row: tuple[float, int, int, str]) -> str:
    percent, size, pid, name = row
    return f"{percent:6.1f} %  {byte_size(size):>9}  {pid:>7}  {name}"


def _safe(text: str) -> str:
    return revealed(one_line(sound(text), SHOWN_NAME_CHARACTERS))
