"""A run in a few lines of text."""

from __future__ import annotations

from pathlib import Path

from simview import hdf5
from simview.errors import DamagedError, NotFoundError, SimviewError
from simview.runs import Run


def _size(run: Run) -> str:
    total = 0.0
    for path in run.path.rglob("*"):
        try:
            total += path.stat().st_size if path.is_file() else 0
        except OSError:
            continue
    for unit in ("B", "KiB", "MiB", "GiB"):
        if total < 1024 or unit == "GiB":
            return f"{total:.3g} {unit}" if total < 1000 else f"{total:.0f} {unit}"
        total /= 1024
    return ""


def digests(folder: Path, faults: list[str]) -> str:
    """Compares all HDF5 files of a run with their digests."""
    whole = without = damaged = 0
    for path in sorted(path for path in folder.rglob("*") if path.suffix in (".h5", ".hdf") and path.is_file()):
        try:
            if hdf5.verify(path):
                whole += 1
            else:
                without += 1
        except DamagedError as error:
            damaged += 1
            if str(error) not in faults:
                faults.append(str(error))
        except NotFoundError:  # the run has replaced the file
            continue
    told = [f"{whole} files are as they were written", f"{damaged} damaged" if damaged else ""]
    told.append(f"{without} carry no digest" if without else "")
    return ", ".join(text for text in told if text)


def summary(run: Run, *, verify: bool = False) -> tuple[str, bool]:
    """What a run is, how far it got, and what it wrote. Damaged parts are named, and all others described.

    Parameters
    ----------
    run
        The run.
    verify
        Reads all files of the run completely and compares them with their digests.

    Returns
    -------
    str
        Some lines.
    bool
        Whether nothing is damaged.
    """
    lines: list[tuple[str, str]] = []
    faults: list[str] = []

    def tell(name: str, text: str) -> None:
        if text:
            lines.append((name, text))

    try:
        about = run.provenance
    except SimviewError as error:
        about = {}
        faults.append(str(error))
    unit = f" {run.units.text((0, 0, 1))}" if about and run.units.names else ""
    try:
        status = run.status
    except SimviewError as error:
        status = {}
        faults.append(str(error))
    model = str(about.get("model") or status.get("model", ""))
    title = str(about.get("title") or run.name)
    if status:
        share = ""
        if status.get("state") == "running" and status.get("t_end"):
            share = f", {100 * float(status.get('time', 0)) / float(status['t_end']):.0f} %"
        tell("state", f"{status.get('state')}: step {status.get('step')}, t = {status.get('time', 0):g}{unit}"
             f" of {status.get('t_end', 0):g}{share}")  # fmt: skip
    faults += [fault for fault in run.leave_out_damaged() if fault not in faults]
    for part in run.slices.values():
        faults += [fault for fault in part.leave_out_damaged() if fault not in faults]
    try:
        if len(run):
            last = run[-1]
            tell("snapshots", f"{len(run)}, t = {run[0].time:g} to {last.time:g}{unit}")
            tell("particles", ", ".join(f"{name} {last.count(name)}" for name in last.species))
            sizes = ((name, last.field(name)) for name in last.fields)
            tell("fields", ", ".join(f"{name} ({f.unit}) {' x '.join(map(str, f.shape))}" for name, f in sizes))
        else:
            tell("snapshots", "none yet")
        for name, part in run.slices.items():
            tell(f"slice {name}", f"{len(part)}, t = {part[0].time:g} to {part[-1].time:g}{unit}" if len(part) else "none yet")
    except SimviewError as error:
        faults.append(str(error))
    try:
        for name, frame in run.tables.items():
            if len(frame) == 0:
                tell(f"table {name}", "no rows yet")
                continue
            values = [f"{column} {frame[column].iloc[-1]:.6g}" for column in list(frame.columns)[2:7]]
            tell(f"table {name}", f"{len(frame)} rows; last: {', '.join(values)}")
    except SimviewError as error:
        faults.append(str(error))
    tell("device", ", ".join(str(about[key]) for key in ("device", "precision") if about.get(key)))
    if about:
        tell("made by", f"sim {about.get('version', '')} ({about.get('git_revision', '')}), seed {about.get('seed')}, "
             f"begun {about.get('start_time', '')}")  # fmt: skip
    tell("size", _size(run))
    tell("digest", str(status.get("digest") or ""))
    if verify:
        tell("verified", digests(run.path, faults))
    wide = max((len(name) for name, _ in lines), default=0)
    head = f"{run.path}: {title}" + (f" ({model})" if model else "")
    text = "\n".join([head, *(f"  {name:<{wide}}  {text}" for name, text in lines), *(f"  ! {f}" for f in faults)])
    return text, not faults
