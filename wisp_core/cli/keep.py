"""`wisp doctor --rebuild` and `wisp audit verify`: mends and checks what is kept."""

from wisp_core.wisp import rebuild_home, verify_home


async def rebuild() -> int:
    """Make `wisp.db` again from the audit and say what was done."""
    for line in await rebuild_home():
        print(line)
    return 0


async def verify() -> int:
    """Print what is wrong with the audit, and return 1 where something is."""
    found = await verify_home()
    for line in found:
        print(line)
    if not found:
        print("the audit is sound")
    return 1 if found else 0
