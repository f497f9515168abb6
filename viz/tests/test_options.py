"""Pictures of options: smiles, surfaces, Greeks and exposures, against formulas and tables."""

import os
import subprocess
from statistics import NormalDist

import numpy as np
import pytest
from matplotlib.figure import Figure

import simview
from simview import greeks, smile
from simview.figure import draw
from simview.options import _names


def test_volatility():
    """A widely published price (spot = strike = 100, rate 5 %, one year, 20 %) gives its volatility back; none outside the bounds."""
    market = 100, 100, 0, 0.05, 1
    assert smile.volatility(10.450583572185565, 1, market) == pytest.approx(0.2, abs=1e-13)
    assert smile.volatility(10.450583572185565 - 100 + 100 * np.exp(-0.05), -1, market) == pytest.approx(0.2, abs=1e-13)  # parity
    assert smile.volatility(100 - 100 * np.exp(-0.05) - 1e-3, 1, market) is None and smile.volatility(100, 1, market) is None


SMILE = """
return sim.option {
  title = "five strikes", rate = 0.02, maturity = 0.5,
  assets = { { spot = 100, vol = 0.3, dividend = 0.01 } },
  payoffs = { sim.european { strike = 80, type = "put" }, sim.european { strike = 90, type = "put" }, sim.european { strike = 100 },
              sim.european { strike = 110 }, sim.european { strike = 120 }, sim.european { strike = 80 } },
  greeks = { delta = true },
  sampling = { paths = 2^16 },
}
"""


def test_smile(tmp_path, monkeypatch):
    """Prices of a market of one volatility give that one back, within five of the bars, at every strike."""
    (tmp_path / "s.lua").write_text(SMILE)
    subprocess.run([os.environ["SIM"], "run", "s.lua", "--quiet"], cwd=tmp_path, check=True, capture_output=True)
    run = simview.open(tmp_path / "s.out")
    found = smile.points([run])
    assert [point.strike for point in found] == [80, 90, 100, 110, 120]
    # Five standard errors: 6e-7 a strike; the seed is fixed.
    assert all(abs(point.volatility - 0.3) < 5 * point.error < 0.02 for point in found)
    labels = [axes.get_ylabel() for axes in draw(run).axes]
    assert any("implied volatility" in label and "standard error" in label for label in labels)
    # The call at 80 is worth its forward but for a small option: its error is larger, and the put's counts.
    assert found[0].error == pytest.approx(min(smile.points([run])[0].error, found[0].error)) and len(found) == 5
    # Of calls there are four strikes, of puts two: the deltas of the calls are a line, and in a row below are all estimates.
    (line,) = greeks.lines(run)
    assert (line.name, line.strikes, line.places) == ("european call", [80, 100, 110, 120], [5, 2, 3, 4])
    figure = draw(run)
    (axes,) = [axes for axes in figure.axes if axes.get_ylabel().startswith("delta")]
    shown = axes.containers[0].lines[0].get_xydata()
    strikes, deltas = shown.T
    normal = NormalDist().cdf
    exact = [np.exp(-0.01 * 0.5) * normal((np.log(100 / k) + (0.02 - 0.01 + 0.045) * 0.5) / (0.3 * 0.5**0.5)) for k in strikes]
    errors = run.tables["delta_errors"].iloc[-1]
    assert all(abs(d - e) < 5 * errors[f"payoff_{place + 1}"] for d, e, place in zip(deltas, exact, line.places))
    assert "standard error" in axes.get_ylabel() and figure.axes[-1].get_title() != "smile"
    assert [name for name in _default_names(run)] == ["smile", "greeks.delta", "estimates"]


EXPOSURE = """
return sim.option { assets = { { spot = 100, vol = 0.3 } }, rate = 0.02, maturity = 1,
  payoffs = { sim.european { strike = 100 }, sim.european { strike = 100, type = "put" } }, sampling = { paths = 2^12 },
  exposure = { dates = { 0.5, 1 }, quantities = { 1, -1 }, hazard = 0.02, paths = 2^12, fit_paths = 2^12, values = 5 } }
"""


LEVELS = """
return sim.option { assets = { { spot = 100, heston = { v = 0.04, kappa = 2, theta = 0.06, sigma = 0.5, rho = -0.7 } } }, maturity = 1,
  steps = 4, payoffs = { sim.european { strike = 100 } }, sampling = { multilevel = true, standard_error = 0.1 } }
"""


def test_exposure(tmp_path):
    """The panel shows the table's numbers over its dates, ENE below 0, and the CVA; the tables have no panels of their own."""
    (tmp_path / "s.lua").write_text(EXPOSURE)
    subprocess.run([os.environ["SIM"], "run", "s.lua", "--quiet"], cwd=tmp_path, check=True, capture_output=True)
    run = simview.open(tmp_path / "s.out")
    assert _default_names(run) == ["exposure", "estimates"]
    figure = draw(run)
    (axes,) = [axes for axes in figure.axes if axes.get_ylabel().startswith("exposure of the netted book")]
    lines = [container.lines[0].get_xydata() for container in axes.containers]
    for (name, sign), line in zip((("pfe", 1), ("epe", 1), ("ene", -1)), lines):
        assert line[:, 0].tolist() == [0, 0.5, 1]
        assert line[:, 1].tolist() == [sign * run.tables[name][f"date_{k}"].iloc[-1] for k in (1, 2, 3)]
    values = run.exposure  # a call less a put: V is the forward's value, at the end the price less the strike
    assert values["value"].dims == ("path", "time") and values["value"].attrs["units"] == "money of the run"
    assert values["path"].values.tolist() == [0, 1, 2, 3, 4] and values["asset"].values.tolist() == [1]
    assert values["time"].values.tolist() == [0, 0.5, 1] and values["quantity"].values.tolist() == [1, -1]
    assert values["contract"].values.tolist() == ["1 european call 100", "2 european put 100"]
    assert values["value"].sel(time=1).values == pytest.approx(values["price"].sel(time=1, asset=1).values - 100, abs=1e-9)
    told = [text.get_text() for text in axes.get_legend().get_texts()]
    assert any(text.startswith("CVA 0.") for text in told) and not any(axes.get_title() == "cva" for axes in figure.axes)


BUCKETS = """
local bent = sim.curve { {0, 0.2}, {0.5, 0.25}, {1, 0.2} }
return sim.option { assets = { { spot = 100, vol = bent }, { spot = 95, vol = bent } }, rate = sim.curve { {0, 0.01}, {1, 0.05} }, maturity = 1,
  payoffs = { sim.best_of { strike = 105 }, sim.european { strike = 100 } }, sampling = { paths = 2^12 },
  greeks = { vega = true, vega_bucket = true, rho_bucket = true } }
"""


def test_buckets(tmp_path):
    """Vega and rho by node are data sets, which the tables repeat, and bars at the times of the nodes."""
    (tmp_path / "b.lua").write_text(BUCKETS)
    subprocess.run([os.environ["SIM"], "run", "b.lua", "--quiet"], cwd=tmp_path, check=True, capture_output=True)
    run = simview.open(tmp_path / "b.out")
    assert _default_names(run)[:2] == ["vega_by_node", "rho_by_node"]
    nodes = run.vega_buckets
    assert nodes["time"].values.tolist() == [0, 0.5, 1, 0, 0.5, 1] and nodes["asset"].values.tolist() == [1, 1, 1, 2, 2, 2]
    last = run.tables["vega_buckets"].iloc[-1]
    assert nodes["vega"].values[0].tolist() == [last[f"payoff_1_{asset}_{node}"] for asset in (1, 2) for node in (1, 2, 3)]
    vega = run.tables["vegas"].iloc[-1]
    assert nodes["vega"].values[1].reshape(2, 3).sum(axis=1) == pytest.approx([vega["payoff_2_1"], vega["payoff_2_2"]], rel=1e-5)
    bars, by_rate = draw(run, only=["vega_by_node", "rho_by_node"]).axes[:2]
    assert [bar.get_height() for bar in bars.patches] == nodes["vega"].values.ravel().tolist()
    assert [label.get_text() for label in bars.get_xticklabels()] == ["0\n1", "0.5\n1", "1\n1", "0\n2", "0.5\n2", "1\n2"]
    assert [label.get_text() for label in by_rate.get_xticklabels()] == ["0", "1"]


SCENARIOS = """
return sim.option { assets = { { spot = 100, vol = 0.2 }, { spot = 95, vol = 0.3, dividend = 0.01 } }, rate = 0.05, maturity = 1, steps = 12,
  payoffs = { sim.asian { strike = 95, asset = 2, name = "mean" }, sim.best_of { strike = 105 } }, sampling = { paths = 2^12, antithetic = true },
  ladder = { spot = { -0.1, 0, 0.1 }, vol = { 0, 0.05 } }, paths = { count = 2^12 } }
"""


def test_scenarios(tmp_path):
    """A ladder is a data set with today's prices in it, drawn as lines and colours; NumPy prices both payoffs from the paths."""
    (tmp_path / "s.lua").write_text(SCENARIOS)
    subprocess.run([os.environ["SIM"], "run", "s.lua", "--quiet"], cwd=tmp_path, check=True, capture_output=True)
    run = simview.open(tmp_path / "s.out")
    assert _default_names(run) == ["ladder", "ladder_changes", "estimates"]
    ladder, prices = run.ladder, run.tables["prices"].iloc[-1][["mean", "payoff_2"]].to_numpy()
    assert ladder["price"].dims == ("payoff", "time", "vol", "spot") and list(ladder["payoff"].values) == ["1 mean", "2 best_of call 105"]
    today = ladder.sel(time=0, vol=0, spot=0)
    assert today["price"].values.tolist() == prices.tolist() and not today["change"].any() and not today["change_error"].any()
    assert (ladder["change"].sel(spot=0.1) > 0).all() and (ladder["change_error"] < ladder["price_error"]).sel(spot=[-0.1, 0.1], vol=0).all()
    figure = draw(run, only=["ladder", "ladder_changes"])
    (lines,) = [axes for axes in figure.axes if axes.get_ylabel().startswith("price of mean")]
    assert lines.containers[1].lines[0].get_ydata().tolist() == ladder["price"].isel(payoff=0, time=0, vol=1).values.tolist()
    assert [axes.get_xlabel() for axes in figure.axes].count("relative shift of the spot") == 2  # 0.1 is 10 %
    (image,) = [axes.images[0] for axes in figure.axes if axes.images]
    assert image.get_array().tolist() == ladder["change"].isel(payoff=0, time=0).values.tolist()

    path = run.paths["price"].to_numpy()  # [path][asset][time]
    assert run.paths["price"].dims == ("path", "asset", "time") and path.shape == (2**12, 2, 13) and (path[:, 0, 0] == 100).all()
    discount = np.exp(-0.05)
    mean = discount * np.maximum(path[:, 1, 1:].mean(axis=1) - 95, 0).mean()
    best = discount * np.maximum(path[:, :, -1].max(axis=1) - 105, 0).mean()
    assert [mean, best] == pytest.approx(prices, rel=1e-12)  # sums in another order


def test_levels(tmp_path):
    """The panel shows deviation, mean and paths of each level that has paths; the tables have no panels of their own."""
    (tmp_path / "s.lua").write_text(LEVELS)
    subprocess.run([os.environ["SIM"], "run", "s.lua", "--quiet", "--device", "cpu"], cwd=tmp_path, check=True, capture_output=True)
    run = simview.open(tmp_path / "s.out")
    assert _default_names(run) == ["levels", "estimates"]
    figure = draw(run)
    (axes,) = [axes for axes in figure.axes if axes.get_xlabel().startswith("level")]
    assert "share of the paths" in axes.get_ylabel()  # the axis names all of its lines
    paths = run.tables["level_paths"].iloc[-1].dropna()
    count = sum(name.startswith("level_") for name in paths.index)
    assert 3 <= count < 13
    deviations = next(line for line in axes.lines if line.get_label() == "deviation of a path")
    assert deviations.get_ydata().tolist() == [run.tables["level_deviations"][f"level_{k}"].iloc[-1] for k in range(count)]


def test_level_errors():
    """An error above the mean is whole upwards; downwards the bar ends above 0, since the axis is logarithmic."""
    from types import SimpleNamespace

    import pandas as pd
    from matplotlib.figure import Figure

    from simview.levels import TABLES, levels

    rows = [(100.0, 25.0), (10.0, 0.01), (5.0, 1.0)]  # paths, means, deviations: the second error is 1 / 5
    run = SimpleNamespace(tables={name: pd.DataFrame([row], columns=["level_0", "level_1"]) for name, row in zip(TABLES, rows, strict=True)})
    axes = Figure().subplots()
    levels(run, axes)
    (bars,) = axes.containers[0].lines[2]
    ends = [segment[:, 1].tolist() for segment in bars.get_segments()]
    assert ends == [pytest.approx([9.5, 10.5]), pytest.approx([0.001, 0.21])]


def _default_names(run):
    from simview.figure import _telling, table_panels

    return _telling(run, list(table_panels(run)), 0)


def test_smile_maturities():
    """A payoff's own maturity is that of its formula; without one it is the run's."""
    from simview.options import reference

    asset = {"spot": 100, "vol": "result = 0.2", "dividend": "result = 0", "dividends": []}
    payoffs = [{"$type": "european", "strike": 100, "maturity": 0.5}, {"$type": "european", "strike": 100, "maturity": "run"}]
    parameters = {"assets": [asset], "rate": "result = 0.05", "maturity": 1, "payoffs": payoffs}
    assert reference(parameters, 0) == pytest.approx(6.888728577680624, abs=1e-12)
    assert reference(parameters, 1) == pytest.approx(10.450583572185565, abs=1e-12)
    asset["dividends"] = [[0.25, 2]]  # no formula
    assert reference(parameters, 0) is None


def test_ladder(tmp_path):
    """In one run too, options of several strikes and maturities are a smile a maturity and a surface, however many they are."""
    payoffs = ", ".join(f"sim.european {{ strike = {80 + 10 * i}, maturity = {t} }}" for t in (0.25, 0.5, 1) for i in range(5))
    text = f'return sim.option {{ rate = 0.02, maturity = 1, steps = 4, assets = {{ {{ spot = 100, vol = 0.3 }} }}, payoffs = {{ {payoffs} }}, ' \
        "sampling = { paths = 2^14 } }"  # fmt: skip
    (tmp_path / "s.lua").write_text(text)
    done = subprocess.run([os.environ["SIM"], "run", "s.lua", "--quiet"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    run = simview.open(tmp_path / "s.out")
    found = smile.points([run])
    assert [point[:2] for point in found] == [(80 + 10 * i, t) for i in range(5) for t in (0.25, 0.5, 1)]
    assert all(abs(point.volatility - 0.3) < 5 * point.error for point in found) and smile.is_surface(found)
    assert _default_names(run) == ["smile", "surface", "estimates"]
    figure = draw(run)
    (axes,) = [axes for axes in figure.axes if axes.get_ylabel() == "maturity"]
    values = np.asarray(axes.collections[0].get_array()).reshape(3, 5)
    assert np.allclose(values.T.ravel(), [point.volatility for point in found])
    (legend,) = [axes.get_legend() for axes in figure.axes if axes.get_legend() and axes.get_legend().get_title().get_text()]
    assert legend.get_title().get_text() == "the first 12 of 15 payoffs"
    assert _names(run)[4:6] == ["European call 120, to 0.25", "European call 80, to 0.5"]  # payoffs of one strike are told apart
    assert axes.get_ylim() == (0.25, 1.0)
    axes = Figure().add_subplot()
    smile.surface(axes, found[:-1])  # with a gap too
    assert axes.get_xlim() == (80, 120) and axes.get_ylim() == (0.25, 1.0)
