"""Programs of others on our files: each compares numbers with what h5py reads."""

import h5py
import numpy as np
import pytest
import write

pytestmark = pytest.mark.long


def stored(path, step, name):
    with h5py.File(path) as file:
        return file[f"data/{step}/{name}"][:]


def test_validator(clusters, gray_scott, plate, grains):
    check = pytest.importorskip("openpmd_validator.check_h5")
    for folder in (clusters, gray_scott, plate, grains):
        for path in sorted((folder / "snap").iterdir()):
            errors, _ = check.check_file(str(path))[:2]
            assert errors == 0, path


def test_viewer(clusters, gray_scott):
    viewer = pytest.importorskip("openpmd_viewer")
    series = viewer.OpenPMDTimeSeries(str(clusters / "snap"))
    assert list(series.iterations) == [0, 4, 8, 12, 16]
    path = clusters / "snap" / "snap_00000008.h5"
    kpc = 3.0856775814913673e19
    (x,) = series.get_particle(["x"], species="left", iteration=8)
    # The viewer multiplies by unitSI: one rounding.
    assert np.allclose(x, stored(path, 8, "particles/left/position/x") * kpc, rtol=1e-15)
    series = viewer.OpenPMDTimeSeries(str(gray_scott / "snap"))
    u, about = series.get_field("u", iteration=100)
    path = gray_scott / "snap" / "snap_00000100.h5"
    assert np.allclose(u, stored(path, 100, "meshes/u") * 1e9, rtol=1e-15)
    assert np.allclose(about.x, (2 + 0.25 * (np.arange(32) + 0.5)) * 1e-3, rtol=1e-14)
    flow, _ = series.get_field("flow", "y", iteration=200)
    assert np.allclose(flow * 60e3, stored(gray_scott / "snap" / "snap_00000200.h5", 200, "meshes/flow/y"), rtol=1e-14)


def test_api(clusters, gray_scott):
    io = pytest.importorskip("openpmd_api")
    series = io.Series(str(clusters / "snap" / "snap_%T.h5"), io.Access.read_only)
    assert sorted(series.iterations) == [0, 4, 8, 12, 16]
    x = series.iterations[16].particles["right"]["position"]["x"].load_chunk()
    mass = series.iterations[16].particles["right"]["mass"].load_chunk()
    series.flush()
    assert np.array_equal(x, stored(clusters / "snap" / "snap_00000016.h5", 16, "particles/right/position/x"))
    assert np.array_equal(mass, np.full(40, 2 / 40))
    series = io.Series(str(gray_scott / "snap" / "snap_%T.h5"), io.Access.read_only)
    u = series.iterations[100].meshes["u"]
    values = u.load_chunk()
    series.flush()
    assert np.array_equal(values, stored(gray_scott / "snap" / "snap_00000100.h5", 100, "meshes/u"))
    assert list(u.grid_spacing) == [0.5, 0.25] and list(u.axis_labels) == ["y", "x"]


def test_pandas(clusters):
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("tables")
    with h5py.File(clusters / "tables.h5") as file:
        rows = file["energy"][:]
    frame = pandas.read_hdf(clusters / "tables.h5", "energy")
    for name in rows.dtype.names:
        assert np.array_equal(frame[name], rows[name])


def test_vtk(clusters):
    """The index of a species: all snapshots, points and velocities; by PyVista and by VTK's own reader."""
    pytest.importorskip("vtkmodules.vtkIOHDF")
    from vtkmodules.util.numpy_support import vtk_to_numpy

    steps = [0, 4, 8, 12, 16]
    for name, count, total in (("left", 3000, 1), ("right", 40, 2)):
        for step, grid in zip(steps, vtk_steps(clusters / f"{name}.hdf"), strict=True):
            path = clusters / "snap" / f"snap_{step:08d}.h5"
            points = vtk_to_numpy(grid.GetPoints().GetData())
            speeds = vtk_to_numpy(grid.GetPointData().GetArray("velocity"))
            assert points.shape == (count, 3)
            for k, axis in enumerate("xyz"):
                assert np.array_equal(points[:, k], stored(path, step, f"particles/{name}/position/{axis}"))
                assert np.array_equal(speeds[:, k], stored(path, step, f"particles/{name}/velocity/{axis}"))
            # One value for all in the snapshots; 3000 bodies have mass 1, and 40 have mass 2.
            mass = vtk_to_numpy(grid.GetPointData().GetArray("mass"))
            assert np.array_equal(mass, np.full(count, total / count))
    pyvista = pytest.importorskip("pyvista")
    reader = pyvista.get_reader(clusters / "right.hdf")
    assert reader.reader.GetNumberOfSteps() == 5
    for i, step in enumerate(steps):
        reader.reader.SetStep(i)
        mesh = reader.read()
        assert mesh.n_points == 40 and {"velocity", "mass", "id"} <= set(mesh.point_data) and mesh.field_data["Time"] == step / 64
        path = clusters / "snap" / f"snap_{step:08d}.h5"
        assert np.array_equal(mesh.points[:, 0], stored(path, step, "particles/right/position/x"))


def test_meshes(plate):
    """openPMD-viewer and openPMD-api on a real run of two fields."""
    viewer, api = pytest.importorskip("openpmd_viewer"), pytest.importorskip("openpmd_api")
    series = viewer.OpenPMDTimeSeries(str(plate / "snap"))
    assert sorted(series.avail_fields) == ["u", "v"] and len(series.iterations) == 5
    last = int(series.iterations[-1])
    other = api.Series(str(plate / "snap" / "snap_%T.h5"), api.Access.read_only)
    for name in "uv":
        values, about = series.get_field(name, iteration=last)
        exact = stored(plate / "snap" / f"snap_{last:08d}.h5", last, f"meshes/{name}")
        assert np.array_equal(values, exact)
        assert np.allclose(about.x, (np.arange(24) + 0.5) / 8 * 1e-3, rtol=1e-14)  # metres
        mesh = other.iterations[last].meshes[name]
        chunk = mesh.load_chunk()
        other.flush()
        assert np.array_equal(chunk, exact) and list(mesh.axis_labels) == ["y", "x"]


def vtk_steps(path):
    """The data set of each step, by VTK's own reader."""
    from vtkmodules.vtkIOHDF import vtkHDFReader

    reader = vtkHDFReader()
    reader.SetFileName(str(path))
    assert reader.CanReadFile(str(path))
    reader.UpdateInformation()
    for i in range(reader.GetNumberOfSteps()):
        reader.SetStep(i)
        reader.Update()
        yield reader.GetOutput()


def test_vtk_grid(plate):
    """The index of the fields: all snapshots, in the right places."""
    pytest.importorskip("vtkmodules.vtkIOHDF")
    from vtkmodules.util.numpy_support import vtk_to_numpy

    paths = sorted((plate / "snap").iterdir())
    grids = list(vtk_steps(plate / "grid.hdf"))
    assert len(grids) == len(paths) == 5
    for path, grid in zip(paths, vtk_steps(plate / "grid.hdf")):
        assert grid.GetDimensions() == (24, 16, 1)
        assert np.allclose(grid.GetOrigin()[:2], (1 / 16, 1 / 32)) and np.allclose(grid.GetSpacing()[:2], (1 / 8, 1 / 16))
        for name in "uv":
            values = vtk_to_numpy(grid.GetPointData().GetArray(name))
            assert np.array_equal(values, stored(path, int(path.stem[5:]), f"meshes/{name}").ravel())


def test_vtk_flow(flow):
    """A fluid: vectors of three components, the third one 0, and the mask that is in the first snapshot alone."""
    pytest.importorskip("vtkmodules.vtkIOHDF")
    from vtkmodules.util.numpy_support import vtk_to_numpy

    paths = sorted((flow / "snap").iterdir())
    solid = stored(paths[0], 0, "meshes/solid").ravel()
    assert solid.sum() > 10
    for path, grid in zip(paths, vtk_steps(flow / "grid.hdf"), strict=True):
        step, values = int(path.stem[5:]), grid.GetPointData()
        assert grid.GetDimensions() == (42, 14, 1)
        velocity = vtk_to_numpy(values.GetArray("velocity"))
        assert velocity.shape == (42 * 14, 3) and not velocity[:, 2].any()
        for k, axis in enumerate("xy"):
            assert np.array_equal(velocity[:, k], stored(path, step, f"meshes/velocity/{axis}").ravel())
        for name in ("pressure", "vorticity"):
            assert np.array_equal(vtk_to_numpy(values.GetArray(name)), stored(path, step, f"meshes/{name}").ravel())
        assert np.array_equal(vtk_to_numpy(values.GetArray("solid")), solid)


def test_vtk_streamline(scenario_run):
    """VTK's own lines of flow, by the vectors of a fluid that moves the same everywhere."""
    pytest.importorskip("vtkmodules.vtkIOHDF")
    from vtkmodules.util.numpy_support import vtk_to_numpy
    from vtkmodules.vtkCommonDataModel import vtkDataObject
    from vtkmodules.vtkFiltersFlowPaths import vtkStreamTracer

    run = scenario_run("""
return sim.fluid { grid = { n = {12, 10, 8}, size = {12, 10, 8} }, viscosity = 0.5, speed = 1, precision = "double",
  initial = function(x, y, z) return 0.6, 0.2, -0.05 end, integrate = { t_end = 1 },
  output = { snapshots = "ends", tables = "never", checkpoint = "never" } }""")
    (_, grid) = vtk_steps(run / "grid.hdf")
    tracer = vtkStreamTracer()
    tracer.SetInputData(grid)
    tracer.SetInputArrayToProcess(0, 0, 0, vtkDataObject.FIELD_ASSOCIATION_POINTS, "velocity")
    tracer.SetStartPosition(1, 0.5, 1.5)
    tracer.SetMaximumPropagation(100)
    tracer.SetIntegrationDirectionToForward()
    tracer.Update()
    points = vtk_to_numpy(tracer.GetOutput().GetPoints().GetData())
    assert len(points) > 10 and points[-1, 0] > 10
    t = (points[:, 0] - 1) / 0.6
    # Places up to 12 are in single precision.
    assert np.allclose(points, np.stack([1 + 0.6 * t, 0.5 + 0.2 * t, 1.5 - 0.05 * t], axis=1), atol=1e-4)


def test_vtk_slices(block):
    """The index of each slice: its snapshots, where they stand in the block."""
    pytest.importorskip("vtkmodules.vtkIOHDF")
    from vtkmodules.util.numpy_support import vtk_to_numpy

    centres = [0.1 * (np.arange(12) + 0.5), 0.1 * (np.arange(10) + 0.5), 0.3 * (np.arange(7) + 0.5)]
    every = {
        "west": (slice(0, 1), slice(None), slice(None)),  # along x, y, z
        "middle": (slice(None, None, 2), slice(5, 6), slice(None, None, 2)),
        "floor": (slice(None), slice(None), slice(1, 2)),
        "thin": (slice(None, None, 3),) * 3,
        "line": (slice(5, 6), slice(None), slice(6, 7)),
    }
    for name, cells in every.items():
        folder = block / "slices" / name
        paths = sorted(folder.glob("*.h5"))
        steps = 0
        for path, grid in zip(paths, vtk_steps(folder / "grid.hdf"), strict=True):
            places = [c[k] for c, k in zip(centres, cells)]
            assert grid.GetDimensions() == tuple(len(p) for p in places)
            assert np.allclose(grid.GetOrigin(), [p[0] for p in places], rtol=1e-14)
            assert np.allclose(grid.GetSpacing(), [p[1] - p[0] if len(p) > 1 else c[1] - c[0] for p, c in zip(places, centres)])
            step = int(path.stem[5:])
            exact = stored(block / "snap" / path.name, step, "meshes/u")[cells[2], cells[1], cells[0]]
            assert np.array_equal(vtk_to_numpy(grid.GetPointData().GetArray("u")), exact.ravel())
            steps += 1
        assert steps == {"west": 4, "floor": 2}.get(name, 6), name
    pyvista = pytest.importorskip("pyvista")
    mesh = pyvista.read(block / "slices" / "middle" / "grid.hdf")
    assert np.allclose(mesh.bounds[2:4], 0.55) and "u" in mesh.point_data


def test_vtk_changing_number(grains):
    """Grains that leave: each step has its own number of points."""
    pytest.importorskip("vtkmodules.vtkIOHDF")
    from vtkmodules.util.numpy_support import vtk_to_numpy

    paths = sorted((grains / "snap").iterdir())
    counts = []
    for path, cloud in zip(paths, vtk_steps(grains / "grains.hdf"), strict=True):
        points = vtk_to_numpy(cloud.GetPoints().GetData())
        counts.append(len(points))
        assert cloud.GetNumberOfCells() == 1 and cloud.GetCell(0).GetNumberOfPoints() == len(points)
        for k, axis in enumerate("xyz"):
            assert np.array_equal(points[:, k], stored(path, int(path.stem[5:]), f"particles/grains/position/{axis}"))
    assert len(set(counts)) > 1


def test_yt(plate, tmp_path):
    """yt reads meshes of two axes and of three. It takes axes in the file's order: what it calls x is our last but one.

    Of three axes that is z: its (x, y, z) are our (z, y, x).
    """
    yt = pytest.importorskip("yt")
    yt.set_log_level("error")
    n = (8, 12, 16)
    values = np.random.default_rng(1).random(n)
    path = tmp_path / "snap_00000000.h5"
    file, group = write.begin(path, 0, 0, meshes=True)
    with file:
        write.mesh(group, "u", values, (1 / 8, 1 / 12, 1 / 16))
    last = sorted((plate / "snap").iterdir())[-1]
    for path, exact in ((path, values), (last, stored(last, int(last.stem[5:]), "meshes/u")[..., None])):
        data = yt.load(str(path))
        assert tuple(data.domain_dimensions) == exact.shape
        read = data.covering_grid(0, data.domain_left_edge, data.domain_dimensions)["openPMD", "u"].to_ndarray()
        assert np.array_equal(read, exact)
    assert np.allclose(data.domain_right_edge[:2].to_ndarray(), (1e-3, 3e-3))  # metres
