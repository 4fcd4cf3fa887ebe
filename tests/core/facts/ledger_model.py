"""The rules F2, F5 to F9 once more, written as they read, over plain rows and without any of the ledger's code."""

from dataclasses import dataclass, replace

STRENGTH = {"person": 3, "caller": 3, "tool": 2, "person_command": 2, "model": 1}


@dataclass
class Row:
    """A fact: what it says, and what became of it."""

    scope: str
    subject: str
    name: str
    value: str
    source: str
    state: str = "current"
    proposal: str = ""
    unsupported: bool = False
    asked_by: str = ""

    def strength(self) -> int:
        # "A permanent fact that the person approved ranks with the person."
        return 3 if self.scope == "permanent" else STRENGTH[self.source]

    def speaker(self) -> str:
        if self.subject == "task":
            return "whoever"
        if self.scope == "permanent":
            return "person"
        return {"person_command": "tool"}.get(self.source, self.source)

    def same(self, other: "Row") -> bool:
        return self.value.casefold() == other.value.casefold()

    def about(self, other: "Row") -> bool:
        return (self.subject, self.name) == (other.subject, other.name)


class Model:
    """Every row in order; `told` are the conflict events of the latest step."""

    def __init__(self) -> None:
        self.rows: list[Row] = []
        self.told: list[str] = []

    def state(self) -> list[tuple]:
        return [(r.scope, r.subject, r.name, r.value, r.source, r.state, r.proposal, r.unsupported) for r in self.rows]

    def play(self, step: tuple, index: int) -> bool:
        """Take a step as the ledger does; `index` is the fact that it is about."""
        before = self.conflicts()
        allowed = self.say(step) if step[0] == "say" else self.change(step, index)
        after = self.conflicts()
        self.told = ["fact.conflict.raised"] * len(after - before) + ["fact.conflict.resolved"] * len(before - after)
        return allowed

    def heads(self, row: Row) -> list[Row]:
        return [r for r in self.rows if r.state == "current" and not r.unsupported and r.about(row)]

    def conflicts(self) -> set[tuple[str, str]]:
        found = set()
        for row in self.rows:
            heads = self.heads(row)
            if any(a.speaker() != b.speaker() and not a.same(b) for a in heads for b in heads):
                found.add((row.subject, row.name))
        return found

    def say(self, step: tuple) -> bool:
        _, source, identity, value, unsupported = step
        subject, _, name = identity.partition(" ")
        row = Row("thread", subject, name, value, source.value, unsupported=unsupported and source.value == "model")
        if row.unsupported and subject == "task":
            return True
        person, kept_kind = row.source == "person", subject == "preference"
        mine = [r for r in self.rows if r.state == "current" and r.about(row) and self.on_line(r, row)]
        if subject in ("service", "task"):
            row.scope = "session"
        if (kept_kind and person) or any(r.scope == "permanent" for r in mine):
            row.scope = "permanent"
        elif mine:
            row.scope = mine[-1].scope
        was_dropped = any(r.proposal == "dropped" and r.about(row) and r.same(row) for r in self.rows)
        if kept_kind and not person and not was_dropped and not row.unsupported:
            row.proposal, row.asked_by = "waiting", row.source
        disputed = (subject, name) in self.conflicts()
        stands = self.enter(row, None)
        if person and disputed and subject != "task":
            for other in self.heads(row):
                if other is not stands and not other.same(stands):
                    other.state = "superseded"
        return True

    @staticmethod
    def on_line(old: Row, new: Row) -> bool:
        return old.speaker() == new.speaker()

    def enter(self, row: Row, leaving: Row | None) -> Row:
        """Put a row by F6, and return the one that says it now."""
        about = [r for r in self.rows if r.state == "current" and r.about(row) and r is not leaving]
        mine = [r for r in about if self.on_line(r, row) and (r.unsupported or not row.unsupported)]
        theirs = [r for r in about if r not in mine and r.same(row)]
        for old in mine:
            if old.strength() > row.strength():
                return old  # the task of someone stronger
            lives_there = old.scope in (row.scope, "permanent")
            as_good = old.strength() == row.strength() and (row.unsupported or not old.unsupported)
            if lives_there and old.value == row.value and as_good:
                return old  # the same value again adds nothing
        for other in theirs:
            admits = row.scope == "permanent" and other.scope != "permanent"
            if not other.unsupported and other.strength() >= row.strength() and not admits:
                for old in mine:
                    old.state = "superseded"
                return other  # held once, under a source no weaker
        for old in [*mine, *theirs]:
            old.state = "superseded"
        self.rows.append(row)
        return row

    def change(self, step: tuple, index: int) -> bool:
        what, source, _, scope, _ = step
        by = source.value
        if not self.rows or self.rows[index].state != "current":
            return False
        row = self.rows[index]
        match what:
            case "delete":
                if by == "person":
                    row.state = "deleted"
                return by == "person"
            case "drop":
                if row.proposal != "waiting":
                    return False
                row.proposal = "dropped"
                return True
            case "keep":
                return row.proposal == "waiting" and self.move(row, "permanent", kept=True)
            case "ask":
                return self.ask(row, by)
            case _:
                may = by == "person" or (by == "caller" and "permanent" not in (row.scope, scope.value))
                if not may or row.scope == scope or row.subject == "task":
                    return False
                kept = scope == "permanent" and row.proposal == "waiting"
                return self.move(row, scope.value, kept=kept)

    def ask(self, row: Row, by: str) -> bool:
        if row.scope == "permanent" or row.subject == "task":
            return False
        if not any(r.proposal == "dropped" and r.about(row) and r.same(row) for r in self.rows):
            row.proposal = "waiting"
        return True

    def move(self, row: Row, scope: str, *, kept: bool) -> bool:
        new = replace(row, scope=scope)
        if scope == "permanent" or new.proposal != "waiting":
            new.proposal = ""
        if scope == "permanent":
            new.unsupported = False
        self.enter(new, row)
        row.state = "superseded"
        if kept:
            row.proposal = "kept"
        return True
