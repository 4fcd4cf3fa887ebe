"""Reads the files of `resources/`: the folder beside the package in a checkout, else the copy inside the wheel."""

from pathlib import Path

_INSIDE = Path(__file__).parent / "resources"
_BESIDE = Path(__file__).parent.parent / "resources"


def read(name: str) -> str:
    """Return the text of the resource `name`.

    Raises:
        FileNotFoundError: there is no such resource.
    """
    # The checkout's folder comes first: an editable install leaves a copy inside that goes stale.
    path = _BESIDE / name
    return (path if path.is_file() else _INSIDE / name).read_text("utf-8")
