"""Slots, tables, and kernels as plain Python."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

from index3.compiled import slots as s
from index3.compiled.interface import JIT, OK, WORDS, Kernel, Slot, Table, kernel, plain_records, slots

RECORD = np.dtype([("first", "i8"), ("weight", "f8")])
NUMBERS, MATRIX, RECORDS = slots(numbers=("f8", 1), matrix=("f8", 2), records=(RECORD, 1))


@pytest.fixture
def table():
    return Table(3)


def test_slots_are_numbered_in_order():
    assert [slot.index for slot in (NUMBERS, MATRIX, RECORDS)] == [0, 1, 2]
    assert Slot(0, np.dtype("f8"), 1) == NUMBERS


def test_slots_of_the_system_are_distinct():
    named = {name: value for name, value in vars(s).items() if isinstance(value, Slot)}
    assert sorted(slot.index for slot in named.values()) == list(range(s.SIZE))


def test_a_table_gives_back_the_array_itself(table):
    array = np.arange(3.0)
    table[NUMBERS] = array
    assert table[NUMBERS] is array


def test_a_table_says_where_and_how_large(table):
    array = np.zeros((4, 5))
    table[MATRIX] = array
    first = MATRIX.index * WORDS
    assert table.words[first : first + 3].tolist() == [array.ctypes.data, 4, 5]
    assert table.handle == table.words.ctypes.data


def test_a_table_keeps_its_arrays_alive(table):
    table[NUMBERS] = np.full(1000, 7.0)
    rubbish = [np.zeros(1000) for _ in range(10)]  # would take the place of an array that nobody owns
    assert table[NUMBERS].sum() == 7000.0
    assert len(rubbish) == 10


@pytest.mark.parametrize(
    "array",
    [np.zeros(3, np.float32), np.zeros(3, int), np.zeros((3, 1)), np.zeros(6)[::2], np.zeros(())],
    ids=["single", "integer", "two dimensions", "strided", "scalar"],
)
def test_what_a_kernel_would_misread_is_refused(table, array):
    with pytest.raises(TypeError, match="slot 0 takes a contiguous 1-d float64 array"):
        table[NUMBERS] = array


def test_a_column_major_matrix_is_refused(table):
    with pytest.raises(TypeError, match="contiguous"):
        table[MATRIX] = np.zeros((3, 4), order="F")


def test_records_of_another_layout_are_refused(table):
    with pytest.raises(TypeError, match="slot 2"):
        table[RECORDS] = np.zeros(2, [("first", "i8")])


def test_an_empty_slot_is_a_key_error(table):
    with pytest.raises(KeyError, match="slot 1 is empty"):
        table[MATRIX]


def test_a_slot_beyond_the_table_is_an_error():
    with pytest.raises(IndexError):
        Table(1)[MATRIX] = np.zeros((1, 1))


def test_a_kernel_knows_its_name():
    @kernel
    def count(T, E):
        """Count."""
        return OK

    assert isinstance(count, Kernel)
    assert (count.name, count.module, count.__doc__) == ("count", __name__, "Count.")


PLAIN = """
import numpy as np
from index3.compiled.interface import JIT, Table, call, kernel, slots, view
RECORD = np.dtype([("first", "i8"), ("weight", "f8")])
(RECORDS,) = slots(records=(RECORD, 1))
(OTHER,) = slots(other=("i8", 1))

@kernel
def add(T, E):
    records = view(T, RECORDS)
    for k in range(records.shape[0]):
        records[k].weight += records[k].first
    return 0

@kernel
def run(T, E):
    return call(view(E, OTHER)[0], T, E) + 5

assert not JIT
T, E = Table(1), Table(1)
T[RECORDS] = np.array([(1, 0.5), (2, 0.25)], RECORD)
E[OTHER] = np.array([add.address])
print(run(T.handle, E.handle), T[RECORDS]["weight"].tolist())
"""


def plain_python(code):
    """Run code in a fresh interpreter with the kernels as Python."""
    environment = {**os.environ, "INDEX3_JIT": "0"}
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment)
    assert answer.returncode == 0, answer.stderr
    return answer.stdout


def test_kernels_run_as_plain_python_and_call_each_other():
    assert plain_python(PLAIN) == "5 [1.5, 2.25]\n"


TRAJECTORY = """
import sys
import index3
result = index3.simulate(index3.library.pendulum(), (0.0, 0.05), "hht-i3", step=0.01, progress=False)
assert not {"numba", "llvmlite"} & set(sys.modules)
print(*result.q[-1].tolist())
"""


@pytest.mark.skipif(not JIT, reason="compares compiled kernels with plain ones")
def test_plain_and_compiled_kernels_give_the_same_motion():
    import index3

    plain = np.array([float(x) for x in plain_python(TRAJECTORY).split()])
    compiled = index3.simulate(index3.library.pendulum(), (0.0, 0.05), "hht-i3", step=0.01).q[-1]
    np.testing.assert_allclose(plain, compiled, rtol=1e-12, atol=1e-13)  # rounding: contracted and reordered sums


@pytest.mark.jit_off
def test_fields_come_before_the_attributes_of_numpy():
    """Names such as `size`, `T`, `real` mean a row's field to plain kernels, as to compiled ones."""
    kind = np.dtype([("size", "f8"), ("T", "f8", 3), ("real", "i8"), ("dtype", "f8")])
    data = np.zeros(2, kind)
    for given in (data, data.view(np.recarray)):
        rows = plain_records(given)
        rows[1].size, rows[1].real = 2.5, 7
        rows[1].T[:] = 1.0, 2.0, 3.0
        assert (rows[1].size, rows[1].real, rows[1].dtype) == (2.5, 7, 0.0)
        assert data["size"].tolist() == [0.0, 2.5]  # the same memory
        assert data["T"][1].tolist() == [1.0, 2.0, 3.0]
        assert (rows.shape, rows.size) == ((2,), 2)  # of the array itself
    with pytest.raises(AttributeError, match="mass"):
        _ = plain_records(data).mass


@pytest.mark.skipif(not JIT, reason="starts a process with plain kernels")
def test_the_first_function_of_a_plain_process_is_asked():
    """Its number was 0, which means that there is none."""
    code = (
        "from index3.compiled.interface import plain_address; "
        "from index3.system.functions import Functions; from index3.compiled.failures import Failures; "
        "functions = Functions(Failures()); functions.add('f', (abs, abs, abs)); print(*functions.addresses[0])"
    )
    assert all(int(x) > 0 for x in plain_python(code).split())
