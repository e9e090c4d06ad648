"""The examples of the page on joints run."""

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "elements" / "joints.md"
BLOCKS = re.findall(r"```python\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)


@pytest.mark.parametrize("code", BLOCKS, ids=[str(k) for k in range(len(BLOCKS))])
def test_example_of_the_page_runs(code):
    names: dict[str, object] = {}
    exec(code, names)
    assert names["result"].success
