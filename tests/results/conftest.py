"""The stored run that the tests of this room share."""

from __future__ import annotations

import pytest
from stored_four_bar import four_bar_result


@pytest.fixture(scope="session")
def four_bar():
    return four_bar_result()
