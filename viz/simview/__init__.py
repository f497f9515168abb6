"""Reads and draws what `sim` writes.

>>> import simview
>>> run = simview.open("galaxy.out")
>>> run.tables.energy["error"].abs().max()
>>> stars = run[-1].particles("stars")
>>> stars.x, stars.units["x"]

Nothing is read before it is needed. The files are openPMD snapshots and HDF5 tables; see ``docs/outputs.md`` of sim.
"""

from __future__ import annotations

from simview.errors import DamagedError, NotFoundError, SimviewError, UsageError
from simview.run import Run, open
from simview.snapshot import Field, Particles, Snapshot
from simview.sweep import Sweep, open_sweep
from simview.tables import Tables

__version__ = "0.1.0"
__all__ = [
    "DamagedError",
    "Field",
    "NotFoundError",
    "Particles",
    "Run",
    "SimviewError",
    "Snapshot",
    "Sweep",
    "Tables",
    "UsageError",
    "open",
    "open_sweep",
]
