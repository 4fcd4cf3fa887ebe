"""No module imports itself by a detour."""

from graphlib import TopologicalSorter

import grimp

from tests.architecture.source import ROOT, code


def test_no_import_cycle() -> None:
    graph = grimp.build_graph("wisp_core", "wisp_tui", cache_dir=None, exclude_type_checking_imports=True)
    imports = {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}
    TopologicalSorter(imports).prepare()  # a CycleError names the modules of the cycle


def test_every_folder_of_code_is_a_package() -> None:
    folders = {(ROOT / source.path).parent for source in code()}
    assert not [folder for folder in folders if not (folder / "__init__.py").is_file()]
