"""The rules for the machine: listening ports, memory, disk and battery. Pure."""

import re

from wisp_core.facts.rules.calls import Called
from wisp_core.facts.rules.found import Found, flat

_PORT = re.compile(r"tcp \S+:(\d{1,5})  (\S.*)")
_MEMORY = re.compile(r"memory: (\S.* used \([\d.]++ %\), \S.* available)")
_DISK = re.compile(r"/(?: \([^()\s]++\))?: (\S.* used \([\d.]++ %\), \S.* free)")
_BATTERY = re.compile(r"battery: (\d{1,3} %, (?:not )?plugged in.*)")
_READINGS = {"memory": _MEMORY, "disk": _DISK, "battery": _BATTERY}


def system_info(called: Called) -> list[Found]:
    """Read what `system_info` printed on its topic; what only takes datagrams is no service."""
    topic = called.arguments.get("topic")
    if topic == "ports":
        return _ports(called.lines)
    reading = _READINGS.get(topic) if isinstance(topic, str) else None
    for line in called.lines if reading else ():
        if reading and (found := reading.fullmatch(line)):
            return [Found("machine", str(topic), flat(found.group(1)))]
    return []


def _ports(lines: list[str]) -> list[Found]:
    """Return one service a port: the first process where several addresses share it."""
    services: dict[str, str] = {}
    for line in lines:
        if found := _PORT.fullmatch(line):
            services.setdefault(found.group(1), found.group(2))
    return [Found("service", f"port {port}", flat(f"{process}, listening")) for port, process in services.items()]
