"""Which old turns go, and how much room the next turn is taken to need. Pure."""

from wisp_core.records import CallContent, Entry, EntryKind, OutputContent, ReplyContent, ThreadRecord

_NO_TURN = (EntryKind.INSTRUCTIONS, EntryKind.COMMAND)


def keep_turns(record: ThreadRecord, keep: int, *, before: int) -> tuple[int, ...]:
    """Return the ids of the active entries that are older than the last `keep` turns before turn number `before`.

    A turn is what the model took part in: a `!command` is none of its own, goes with the turn after it, and stays
    where there is none yet. The instructions always stay.
    """
    entries = [entry for entry in record.active_entries() if entry.turn < before]
    turns = sorted({entry.turn for entry in entries if entry.kind not in _NO_TURN})
    if len(turns) <= keep:
        return ()
    oldest = turns[-keep] if keep else before
    return tuple(e.id for e in entries if e.turn < oldest and e.kind is not EntryKind.INSTRUCTIONS)


def headroom(record: ThreadRecord, turns: int) -> int:
    """Return the average size of the latest `turns` turns that have ended, in bytes rounded up, 0 before the first.

    Counted are tool calls, outputs whole as their own turn carried them, and replies (C7).
    """
    running = record.open_turn()
    sizes: dict[int, int] = {}
    for number in reversed(record.active):
        entry = record.entries[number]
        if entry.kind in _NO_TURN or (running is not None and entry.turn >= running.number):
            continue
        if entry.turn not in sizes and len(sizes) == turns:
            break
        sizes[entry.turn] = sizes.get(entry.turn, 0) + _size(entry)
    return -(-sum(sizes.values()) // len(sizes)) if sizes else 0


def _size(entry: Entry) -> int:
    match entry.content:
        case CallContent(tool=tool, arguments=arguments):
            return len(tool.encode()) + len(arguments.encode())
        case OutputContent(text=text) | ReplyContent(text=text):
            return len(text.encode())
        case _:
            return 0
