"""
Work against precision
======================

The same stiff double pendulum by several methods: what each costs for the accuracy that it gives.
"""

import index3 as ix

table = ix.compare(ix.library.double_pendulum(), 0.5, methods=["hht-i3", "bdf-si2", "radau5", "rosenbrock4"])
print(table)
table.plot()
