"""Sweeps: one frame, its runs, pictures, and one clear line for what is wrong."""

import shutil

import pytest

import simview
from simview.sweep_figure import draw_sweep


def test_frame(sweep):
    found = simview.open_sweep(sweep)
    frame = found.frame
    assert found.parameters == ("F", "k") and len(found) == len(frame) == 6
    assert list(frame["F"]) == [0.03] * 3 + [0.04] * 3 and list(frame["k"]) == [0.05, 0.06, 0.07] * 2
    assert set(frame["state"]) == {"done"} and (frame["exit"] == 0).all()
    for name, row in frame.iterrows():
        run = found[name]
        assert run.status["digest"] == row["digest"]
        assert run.tables.fields["v_mean"].iloc[-1] == row["fields.v_mean"]
        # The parameter is in the scenario's rates: the run was made with it.
        assert f"{row['F']:g}" in str(run.parameters["rates"])
    assert [run.path.name for run in found.select(F=0.04, k=0.06)] == ["run_0005"]
    assert found[-1].path.name == "run_0006" and len(found[1:3]) == 2
    with pytest.raises(simview.NotFoundError, match="no parameter 'g'; there are: F, k"):
        found.select(g=1)
    with pytest.raises(simview.NotFoundError, match="no run 'run_0007'"):
        found["run_0007"]


def test_figures(sweep, simview, tmp_path):
    from simview import open_sweep

    sheet = draw_sweep(open_sweep(sweep))
    pictures = [axes for axes in sheet.axes if axes.images]
    assert len(pictures) == 6 and len({image.get_clim() for axes in pictures for image in axes.images}) == 1
    assert [axes.get_xlabel() for axes in pictures if axes.get_xlabel()] == ["k = 0.05", "k = 0.06", "k = 0.07"]
    curves = draw_sweep(open_sweep(sweep), only=["fields.v_mean", "fields.u_min"])
    assert [axes.get_ylabel() for axes in curves.axes] == ["v_mean", "u_min"]
    assert simview("plot", sweep, "-o", "a.png", "--width", "column", "--dpi", "60") == (0, "a.png\n", "")
    code, said, _ = simview("summary", sweep)
    assert code == 0 and "6: 6 done" in said and "0.05, 0.06, 0.07" in said


def test_seeds(tmp_path):
    """Over seeds: the mean with one standard error of it, and what the bars are."""
    import os
    import subprocess

    (tmp_path / "s.lua").write_text("""
local F = sim.param("F", 1, "noise")
return sim.diffusion {
  grid = { n = {8}, size = {1} }, fields = { { name = "u", D = 0.01, initial = 1, noise = F } },
  integrate = { dt = 0.1, t_end = 0.5 }, output = { tables = "every 1 steps", snapshots = "never", checkpoint = "never" },
}
""")
    command = [os.environ["SIM"], "sweep", "s.lua", "--set", "F=1,2", "--seed", "1..4", "-q", "-o", "s.sweep"]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    found = simview.open_sweep(tmp_path / "s.sweep")
    axes = draw_sweep(found, only=["fields.u_max"]).axes[0]
    assert "mean of 4 seeds" in axes.get_ylabel() and "standard error" in axes.get_ylabel().replace("\n", " ")
    (bars,) = axes.containers
    values = [found.frame.loc[found.frame["F"] == F, "fields.u_max"].to_numpy() for F in (1, 2)]
    assert list(bars.lines[0].get_ydata()) == pytest.approx([v.mean() for v in values], rel=1e-14)
    ends = [segment[1, 1] - segment[0, 1] for segment in bars.lines[2][0].get_segments()]
    error = [(((v - v.mean()) ** 2).sum() / 3 / 4) ** 0.5 for v in values]
    assert ends == pytest.approx([2 * e for e in error], rel=1e-9) and min(error) > 0


def test_times(sweep, monkeypatch):
    """A sheet states one time only where all runs are there; else each picture states its own."""
    import simview.sweep_figure as sweep_figure
    from simview import open_sweep

    found = open_sweep(sweep)
    monkeypatch.setattr(sweep_figure, "_last", lambda sweep, name: sweep[name][0 if name == "run_0002" else -1])
    figure = draw_sweep(found)
    assert figure._suptitle.get_text() == "spots, by F and k"
    assert [axes.get_title() for axes in figure.axes if axes.images] == ["t = 40", "t = 0", *["t = 40"] * 4]


def test_titles(sweep, untitled, prices):
    """A sweep is headed by what it is and what it goes over; without a title by its folder, never by its first run."""
    from simview import open_sweep

    assert draw_sweep(open_sweep(sweep))._suptitle.get_text() == "spots, by F and k, t = 40"
    assert draw_sweep(open_sweep(sweep), only=["fields.v_mean"])._suptitle.get_text() == "spots, by F and k"
    assert open_sweep(untitled).title == "s" and draw_sweep(open_sweep(untitled))._suptitle.get_text() == "s, by F, t = 40"
    found = open_sweep(prices)
    figure = draw_sweep(found)
    assert figure._suptitle.get_text() == "a call and a put, by strike"
    assert figure.axes[0].get_ylabel() == "implied volatility\n± one standard error"  # of a call and a put one counts
    first = figure.axes[1]
    assert first.get_ylabel() == "price of the European call\n± one standard error"
    (bars,) = [item for item in first.containers if item.has_yerr]
    lengths = [segment[1, 1] - segment[0, 1] for segment in bars.lines[2][0].get_segments()]
    assert lengths == pytest.approx(list(2 * found.frame["errors.payoff_1"]), rel=1e-9)
    exact = next(line for line in first.lines if line.get_label() == "Black and Scholes").get_ydata()
    assert abs(exact[1] - 10.4506) < 5e-5 and (abs(exact - found.frame["prices.payoff_1"]) < 5 * found.frame["errors.payoff_1"]).all()


def test_bad(sweep, simview, tmp_path):
    copy = tmp_path / "copy"
    shutil.copytree(sweep, copy)
    shutil.rmtree(copy / "run_0002")
    assert simview("plot", copy, "-o", "a.png", "--dpi", "60")[0] == 0  # a run that is not there is left open
    code, _, fault = simview("plot", copy, "--only", "fields.w_mean")
    assert code == 66 and "no column 'fields.w_mean'; there are: pictures, fields.step" in fault
    whole = (copy / "sweep.csv").read_text()
    for text in ("", "abc", whole[: len(whole) // 2]):
        (copy / "sweep.csv").write_text(text)
        for command in ("plot", "summary"):
            code, _, fault = simview(command, copy)
            assert code == 65 and "sweep.csv: cut short or damaged" in fault and fault.count("\n") == 1
    (copy / "sweep.csv").unlink()
    code, _, fault = simview("plot", copy)
    assert code == 66 and "sweep.csv: not there yet" in fault
