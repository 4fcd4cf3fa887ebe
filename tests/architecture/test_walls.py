"""The walls of the house: sizes, names, imports and catches that no file may pass."""

import ast
import re

from tests.architecture.source import Function, Source, code, sources

FILE_LINES = 400
FUNCTION_LINES = 50
CLASS_METHODS = 20
SCREEN_METHODS = 30
PARAMETERS = 6
POSITIONAL = 2

# The two edges: a tool's failure becomes its result; the rest becomes one sentence on the face.
EDGES = {
    "wisp_core/tools/registry.py:Registry.run",
    "wisp_core/cli/main.py:main",
    "wisp_tui/main.py:main",
}
EMPTY_WORDS = {
    word + plural
    for word in ("util", "common", "base", "helper", "manager", "service", "handler")
    for plural in ("", "s")
} | {"utility", "utilities"}


def test_no_file_is_longer_than_400_lines() -> None:
    long = [
        f"{s.path}: {len(s.lines)} lines"
        for s in sources("wisp_core", "wisp_tui", "tests")
        if len(s.lines) > FILE_LINES
    ]
    assert not long, "\n".join(["", *long])


def test_no_function_is_longer_than_50_lines() -> None:
    long = [
        f"{source.path}:{name}: {length} lines"
        for source in sources("wisp_core", "wisp_tui", "tests")
        for name, node in source.functions()
        if (length := (node.end_lineno or 0) - node.lineno + 1) > FUNCTION_LINES
    ]
    assert not long, "\n".join(["", *long])


def test_no_class_has_more_than_20_methods_and_no_screen_more_than_30() -> None:
    large = []
    for source in code():
        for cls in source.classes():
            methods = sum(isinstance(node, Function) for node in cls.body)
            if methods > (SCREEN_METHODS if source.path.startswith("wisp_tui/screens/") else CLASS_METHODS):
                large.append(f"{source.path}:{cls.name}: {methods} methods")
    assert not large, "\n".join(["", *large])


def test_no_function_takes_more_than_6_parameters() -> None:
    wide = [
        f"{source.path}:{name}: {total} parameters"
        for source in code()
        for name, node in source.functions()
        if (total := parameters(node)[1]) > PARAMETERS and not given_shape(source, node)
    ]
    assert not wide, "\n".join(["", *wide])


def test_no_function_takes_parameters_past_the_second_by_position() -> None:
    wide = [
        f"{source.path}:{name}: {positional} parameters by position"
        for source in (*code(), *support())
        for name, node in source.functions()
        if (positional := parameters(node)[0]) > POSITIONAL and not given_shape(source, node)
    ]
    assert not wide, "\n".join(["", *wide])


def support() -> list[Source]:
    """Return what the tests share: a test's own parameters are its fixtures, which pytest gives by name."""
    return [source for source in sources("tests") if not source.path.rpartition("/")[2].startswith("test_")]


def parameters(node: Function) -> tuple[int, int]:
    """Return how many parameters may be given by position, and how many there are, self and cls apart."""
    by_position = [a.arg for a in node.args.posonlyargs + node.args.args if a.arg not in ("self", "cls")]
    return len(by_position), len(by_position) + len(node.args.kwonlyargs)


def given_shape(source: Source, node: Function) -> bool:
    """Tell whether someone else fixes the parameters: Python, or a library that the line names (`# signature of …`)."""
    dunder = node.name.startswith("__") and node.name != "__init__"
    return dunder or "# signature of " in source.lines[node.lineno - 1]


def test_except_exception_stands_at_the_named_edges_alone() -> None:
    found = [
        f"{source.path}:{name}"
        for source in code()
        for name, node in source.functions()
        for inner in ast.walk(node)
        if isinstance(inner, ast.ExceptHandler) and broad(inner)
    ]
    assert not [place for place in found if place not in EDGES]
    assert len(found) == len(set(found)), "an edge catches everything once"


def broad(node: ast.ExceptHandler) -> bool:
    """Tell whether a clause catches everything; one that only cleans up and raises again does not."""
    caught = node.type.elts if isinstance(node.type, ast.Tuple) else [node.type]
    every = any(c is None or (isinstance(c, ast.Name) and c.id in ("Exception", "BaseException")) for c in caught)
    last = node.body[-1]
    return every and not (isinstance(last, ast.Raise) and last.exc is None)


def test_an_import_inside_a_function_has_its_reason_in_the_line() -> None:
    bare = []
    for source in code():
        for name, node in source.functions():
            for inner in ast.walk(node):
                if isinstance(inner, ast.Import | ast.ImportFrom) and "#" not in source.lines[inner.lineno - 1]:
                    bare.append(f"{source.path}:{inner.lineno} in {name}")
    assert not bare, "\n".join(["", *bare])


def test_no_name_is_an_empty_word() -> None:
    empty = [f"{source.path}: {name}" for source in code() for name in names(source) if EMPTY_WORDS & words(name)]
    assert not empty, "\n".join(["", *empty])


def names(source: Source) -> list[str]:
    """Return the names that a file gives: its folders' and its own, its classes' and its functions'."""
    path = source.path.removesuffix(".py").split("/")
    defined = [n.name for n in ast.walk(source.tree) if isinstance(n, ast.ClassDef | Function)]
    return path + defined


def words(name: str) -> set[str]:
    """Return the words of a snake_case or CamelCase name, in lower case."""
    return {word.lower() for word in re.findall(r"[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])", name)}


def test_no_star_import() -> None:
    stars = [
        f"{source.path}:{node.lineno}"
        for source in sources("wisp_core", "wisp_tui", "tests")
        for node in ast.walk(source.tree)
        if isinstance(node, ast.ImportFrom) and any(alias.name == "*" for alias in node.names)
    ]
    assert not stars, "\n".join(["", *stars])


def test_no_test_uses_a_mock() -> None:
    mocks = [
        f"{source.path}:{node.lineno}"
        for source in sources("tests")
        for node in ast.walk(source.tree)
        if (isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[:2] == ["unittest", "mock"])
        or (isinstance(node, ast.Import | ast.ImportFrom) and any("mock" in alias.name.lower() for alias in node.names))
    ]
    assert not mocks, "\n".join(["", *mocks])


def test_no_test_sleeps() -> None:
    sleeps = [
        f"{source.path}:{node.lineno}"
        for source in sources("tests")
        if not source.path.startswith("tests/benchmarks/")  # a benchmark may have to pace what it sends
        for node in ast.walk(source.tree)
        if isinstance(node, ast.Call) and sleeps_for(node)
    ]
    assert not sleeps, "\n".join(["", *sleeps])


def sleeps_for(node: ast.Call) -> bool:
    """Tell whether a call waits for time to pass; `asyncio.sleep(0)` only lets others run."""
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    nothing = bool(node.args) and isinstance(node.args[0], ast.Constant) and node.args[0].value == 0
    owner = node.func.value if isinstance(node.func, ast.Attribute) else None
    known = owner is None or (isinstance(owner, ast.Name) and owner.id in ("time", "asyncio", "anyio"))
    return name == "sleep" and known and not nothing
