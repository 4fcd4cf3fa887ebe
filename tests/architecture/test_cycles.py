"""No module imports itself by a detour."""

import grimp

from tests.architecture.source import ROOT, code


def test_no_import_cycle() -> None:
    graph = grimp.build_graph("wisp_core", "wisp_tui", cache_dir=None)
    imports = {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}
    assert not cycle(imports)


def cycle(imports: dict[str, set[str]]) -> list[str]:
    """Return the modules that are left when all without an import left are taken away, again and again."""
    left = {module: set(found) for module, found in imports.items()}
    while free := {module for module, found in left.items() if not found & left.keys()}:
        for module in free:
            del left[module]
    return sorted(left)


def test_every_folder_of_code_is_a_package() -> None:
    folders = {(ROOT / source.path).parent for source in code()}
    assert not [folder for folder in folders if not (folder / "__init__.py").is_file()]
