"""`wisp doctor`: what wisp finds of its home and around it, one line a finding."""

import json
from dataclasses import asdict

from wisp_core.doctor import Finding, examine
from wisp_core.settings import home_path
from wisp_core.text import displayable


async def doctor(*, as_json: bool) -> int:
    """Print what is found, and return 1 where something is wrong."""
    found = await examine(home_path())
    wrong = [finding for finding in found if finding.wrong]
    if as_json:
        print(json.dumps({"ok": not wrong, "findings": [asdict(finding) for finding in found]}))
    else:
        print_findings(found)
    return 1 if wrong else 0


def print_findings(found: list[Finding]) -> None:
    """Print the findings under each other, a part's name once, what is wrong with a mark."""
    width = max(len(finding.part) for finding in found)
    part = ""
    for finding in found:
        shown = "" if finding.part == part else finding.part
        part = finding.part
        print(f"{'!' if finding.wrong else ' '} {shown:<{width}}  {displayable(finding.text)}")
    wrong = sum(finding.wrong for finding in found)
    print(f"\n{wrong} to mend, marked with !" if wrong else "\nall is well")
