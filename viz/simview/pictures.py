"""Chooses the pictures for a snapshot: density, bodies, grains, maps, surfaces or flows."""

from __future__ import annotations

from collections.abc import Sequence

from simview.atoms import Atoms, are_atoms
from simview.bodies import FEW, SOME, Bodies, Density
from simview.errors import NotFoundError, UsageError
from simview.look import OPTIONS, Look, Picture, chosen_species
from simview.maps import Map, Strip, across
from simview.snapshot import Snapshot


def _of_fields(samples: Sequence[Snapshot], look: Look, series: Sequence[Snapshot]) -> list[Picture]:
    """Maps and surfaces of fields, and of vectors how they flow; along a line and over a series, strips."""
    from simview.cloud import Cloud
    from simview.flow import Flow, Vorticity, parts, vectors
    from simview.streams import Streams
    from simview.volume import Volume, has_surface

    last = samples[-1]
    flows = vectors(last)
    names = list(look.fields or [])
    if not names:  # of a vector what it does, and nothing that follows from it; of what it carries one field
        names = [*flows[:1], *([_carried(last)] if "velocity" in flows[:1] else [])] or list(last.fields)
    shown: list[Picture] = []
    for name in names:
        vector = name if name in flows else "velocity" if name == "vorticity" and "velocity" in flows else ""
        known = next(iter(parts(last, vector).values())) if vector else name
        cut = across(samples, look, [known])
        if name in flows:
            whole = has_surface(last, known) and not look.axes and look.at is None
            if whole:
                shown.append(Cloud(samples, look, name, name) if look.volume else Streams(samples, look, name))
            if look.view is None or not whole:
                shown.append(Flow(samples, look, name, cut))
        elif name == "vorticity" and "velocity" in flows and name not in last.fields:
            whole = look.volume and has_surface(last, known) and not look.axes and look.at is None
            if whole and "vorticity" in (look.fields or ()):
                shown.append(Cloud(samples, look, name, "velocity"))
            if look.view is None or not shown or not isinstance(shown[0], (Streams, Cloud)):
                shown.append(Vorticity(samples, look, "velocity", cut))
        elif series and len(last.field(name).shape) == 1:
            shown.append(Strip(series, look, name))
        else:
            whole = has_surface(last, name) and not look.axes and look.at is None
            if whole:
                shown.append(Cloud(samples, look, name) if look.volume else Volume(samples, look, name))
            if look.view is None or not whole:
                shown.append(Map(samples, look, name, across(samples, look, [one for one in names if one in last.fields])))
    return shown


def _carried(last: Snapshot) -> str:
    """What is shown beside a velocity: the temperature, another field that is no component of it, or the vorticity."""
    from simview.flow import parts

    others = [name for name in last.fields if name not in parts(last, "velocity").values()]
    scalars = others if "/" not in "".join(parts(last, "velocity").values()) else []  # of diffusion
    return next(iter(["temperature"] if "temperature" in others else scalars), "vorticity")


def pictures(samples: Sequence[Snapshot], look: Look, series: Sequence[Snapshot] = (),
             strips: bool = False) -> list[Picture]:  # fmt: skip
    """The pictures that suit the content of the snapshots; limits and colours come from the samples.

    With `strips` a field along a line is shown over all of the series.
    """
    last = samples[-1]
    if (last.fields or look.fields) and not (look.species and not look.fields):
        return _of_fields(samples, look, series if strips and len(series) > 1 else ())
    if not last.species and not look.species:
        raise NotFoundError(f"{last.path}: neither particles nor fields in it")
    particles = last.particles(chosen_species(last, look))
    if "radius" in particles:
        from simview.grains import Grains
        from simview.solids import Solids

        return [Grains(samples, look) if look.axes else Solids(samples, look)]
    if particles.count > FEW and not look.axes and are_atoms(samples, chosen_species(last, look)):
        return [Atoms(samples, look)]
    if particles.count > SOME:
        return [Density(samples, look)]
    bodies = Bodies(samples, look, series)
    inner = bodies.inner()
    return [bodies, inner] if inner else [bodies]


def refuse_unused(look: Look, shown: Sequence[Picture], others: Sequence[str] = ()) -> None:
    """Refuses options of the command without effect in the pictures; `others`: options that affect other panels."""
    known = {*others, *(option for picture in shown for option in picture.options)}
    for option in look.given:
        if option not in known:
            here = ", ".join(f"--{name}" for name in OPTIONS if name in known)
            raise UsageError(f"--{option} has no meaning for what is drawn" + (f"; these have: {here}" if here else ""))
