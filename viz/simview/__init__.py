"""Runs `sim`, and reads and draws what it writes.

>>> import simview
>>> run = simview.open("galaxy.out")
>>> run.tables.energy["error"].abs().max()
>>> stars = run[-1].particles("stars")
>>> stars.x, stars.units["x"]
>>> simview.run("european.lua", set={"strike": 110}).tables.price
>>> simview.price("european.lua", set={"strike": 110}).prices

Nothing is read before it is needed. The files are openPMD snapshots and HDF5 tables; see ``docs/outputs.md`` of sim.
"""

from __future__ import annotations

from simview.errors import DamagedError, MissingToolError, NotFoundError, RunError, RunWarning, SimviewError, UsageError
from simview.launch import find_sim, run, sweep
from simview.page import Page
from simview.runs import Run, open
from simview.served import Values, price
from simview.snapshot import Field, Particles, Snapshot
from simview.sweeps import Sweep, open_sweep
from simview.tables import Tables

__version__ = "0.1.0"
__all__ = [
    "DamagedError",
    "Field",
    "MissingToolError",
    "NotFoundError",
    "Page",
    "Particles",
    "Run",
    "RunError",
    "RunWarning",
    "SimviewError",
    "Snapshot",
    "Sweep",
    "Tables",
    "UsageError",
    "Values",
    "find_sim",
    "open",
    "open_sweep",
    "price",
    "run",
    "sweep",
]
