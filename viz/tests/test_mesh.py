"""Fields and prices, in files of the layout that docs/outputs.md of sim and openPMD 1.1.0 describe."""

import numpy as np
import pytest

import simview
from simview.panels import haff, power


def test_field(gray_scott):
    run = simview.open(gray_scott)
    last = run[-1]
    assert last.fields == ("flow/x", "flow/y", "u") and last.species == () and last.time == 100
    u = last.field("u")
    assert u.shape == (24, 32) and u.dims == ("y", "x") and u.unit == "mm^-3 kg" and u.unit_si == 1e9
    x = np.arange(32) + 0.5
    expected = 1.2 + np.cos(2 * np.pi * 3 * x / 32)
    assert np.array_equal(np.asarray(u), np.tile(expected, (24, 1)))
    assert np.array_equal(u[5, 3:7], expected[3:7])
    assert np.array_equal(u.coords["x"], 2 + 0.25 * x) and u.bounds["y"] == (1.0, 13.0)
    data = u.to_xarray()
    assert data.dims == ("y", "x") and data.attrs["units"] == "mm^-3 kg" and data["x"].attrs["units"] == "mm"
    assert float(data["time"]) == 100 and data["time"].attrs["units"] == "min"
    assert last.field("flow/x").unit == "mm min^-1"
    with pytest.raises(simview.NotFoundError, match="is a vector: ask for flow/x or flow/y"):
        last.field("flow")
    with pytest.raises(simview.NotFoundError, match="no field 'w'; there are: flow/x, flow/y, u"):
        last.field("w")


def test_power(gray_scott):
    """A cosine of three periods holds all of its power, 1/2, in shell 3."""
    k, p = power(np.asarray(simview.open(gray_scott)[0].field("u")))
    # An FFT of N = 768 values is good to a few eps log2(N) of the largest amplitude, which is 1.
    assert k[2] == 3 and abs(p[2] - 0.5) < 1e-13 and p.sum() - p[2] < 1e-13


def test_haff():
    time = np.linspace(2, 12, 50)
    exact = 3 / (1 + (time - 2) / 1.7) ** 2
    assert abs(haff(time, exact) - 1.7) < 1e-12  # least squares of an exact line: rounding alone
    assert haff(time, np.exp(-time)) is None and haff(time, np.ones(50)) is None


def test_pictures(gray_scott, option, simview, tmp_path):
    for folder, more in ((gray_scott, ["--width", "column"]), (gray_scott, ["--field", "u", "-o", "u.pdf"]), (option, [])):
        code, said, fault = simview("plot", folder, *more)
        assert code == 0, fault
        assert (tmp_path / said.strip()).stat().st_size > 5000
    code, said, _ = simview("summary", gray_scott, option)
    assert code == 0 and "u (mm^-3 kg) 24 x 32" in said and "table price" in said
    assert simview("movie", gray_scott, "-o", "u.gif", "--dpi", "50")[0] == 0
