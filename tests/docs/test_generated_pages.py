"""The pages of docs/ that are made from the code are those that the code makes."""

import pytest

from tests.docs.generate import DOCS, PAGES


@pytest.mark.parametrize("name", PAGES)
def test_a_generated_page_is_not_stale(name: str) -> None:
    assert (DOCS / name).read_text("utf-8") == PAGES[name](), f"docs/{name} is stale: make docs writes it"
