"""Reads the project's source as syntax trees, for the walls."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TypeAlias

ROOT = Path(__file__).parent.parent.parent
Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True)
class Source:
    """One file: its path from the root, its text and its tree."""

    path: str
    text: str
    tree: ast.Module

    @property
    def lines(self) -> list[str]:
        """The lines of the file."""
        return self.text.splitlines()

    def functions(self) -> Iterator[tuple[str, Function]]:
        """Yield every function with its name inside the file (`Class.method`)."""
        yield from _functions(self.tree, "")

    def classes(self) -> Iterator[ast.ClassDef]:
        """Yield every class."""
        return (node for node in ast.walk(self.tree) if isinstance(node, ast.ClassDef))


def _functions(parent: ast.AST, prefix: str) -> Iterator[tuple[str, Function]]:
    for node in ast.iter_child_nodes(parent):
        if isinstance(node, Function):
            yield prefix + node.name, node
            yield from _functions(node, f"{prefix}{node.name}.")
        elif isinstance(node, ast.ClassDef):
            yield from _functions(node, f"{prefix}{node.name}.")
        else:
            yield from _functions(node, prefix)


@cache
def sources(*folders: str) -> tuple[Source, ...]:
    """Return every Python file under `folders`, each parsed once."""
    paths = (path for folder in folders for path in sorted((ROOT / folder).rglob("*.py")))
    return tuple(_source(path) for path in paths)


def _source(path: Path) -> Source:
    text = path.read_text("utf-8")
    return Source(path.relative_to(ROOT).as_posix(), text, ast.parse(text, str(path)))


def code() -> tuple[Source, ...]:
    """Return the program's own files."""
    return sources("wisp_core", "wisp_tui")
