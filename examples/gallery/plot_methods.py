"""
Work against precision
======================

The same stiff double pendulum by several methods: what each costs for the accuracy that it gives.
"""

import matplotlib.pyplot as plt

import index3 as ix

methods = ["hht-i3", "bdf-si2", "radau5", "rosenbrock4"]
table = ix.compare(ix.library.double_pendulum(), 0.5, methods, (1e-3, 1e-4, 1e-5, 1e-6))
print(table)

figure, plane = plt.subplots()
for name in methods:
    rows = [row for row in table.rows if row["method"] == name and not row["failed"]]
    plane.loglog(
        [row["error"] for row in rows],
        [row["evaluations"] for row in rows],
        "o-",
        label=name,
    )
plane.invert_xaxis()
plane.set(xlabel="error at the end", ylabel="evaluations of the equations")
plane.legend()
