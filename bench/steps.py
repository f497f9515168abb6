"""Steps of the scenarios of this folder, by `sim`."""
import glob
import os
import re
import subprocess


def sim(program, command, name, *words, errors=None):
    """Output of `sim COMMAND bench/NAME.lua WORDS`; with errors=subprocess.STDOUT, the lines of a run too."""
    scenario = os.path.join(os.path.dirname(os.path.abspath(__file__)), name + ".lua")
    return subprocess.run([program, command, scenario, *words], check=True, stdout=subprocess.PIPE,
                          stderr=errors or subprocess.PIPE, text=True).stdout


def last_field(folder, *names):
    """Fields [names][z][y][x], or [names][y][x], of the last snapshot that `sim run --output FOLDER` has written."""
    import h5py
    import numpy
    path = sorted(glob.glob(os.path.join(folder, "snap/snap_*.h5")))[-1]
    with h5py.File(path) as file:
        return numpy.stack([next(iter(file["data"].values()))[f"meshes/{name}"][:] for name in names])


def rate(text):
    """Units of work a second, of what `sim bench` printed."""
    return float(re.search(r": (\S+) [^,]*?/s \(", text)[1])
