"""Names of units. A scenario states its units of length, mass and time; files have their SI values."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

_JULIAN_YEAR = 31557600.0
_G = 6.67430e-11
_KNOWN: dict[str, dict[str, float]] = {
    "length": {
        "m": 1.0, "cm": 1e-2, "mm": 1e-3, "um": 1e-6, "km": 1e3, "Rearth": 6.3781e6, "Rsun": 6.957e8, "au": 149597870700.0,
        "ly": 9460730472580800.0, "pc": 3.0856775814913673e16, "kpc": 3.0856775814913673e19,
        "Mpc": 3.0856775814913673e22, "Gpc": 3.0856775814913673e25,
    },
    "mass": {
        "kg": 1.0, "g": 1e-3, "mg": 1e-6, "Mearth": 3.986004e14 / _G, "Mjup": 1.2668653e17 / _G,
        "Msun": 1.3271244e20 / _G,
    },
    "time": {
        "s": 1.0, "ms": 1e-3, "us": 1e-6, "min": 60.0, "h": 3600.0, "day": 86400.0, "yr": _JULIAN_YEAR, "kyr": 1e3 * _JULIAN_YEAR,
        "Myr": 1e6 * _JULIAN_YEAR, "Gyr": 1e9 * _JULIAN_YEAR,
    },
}  # fmt: skip
_SI = {"length": "m", "mass": "kg", "time": "s", "current": "A", "temperature": "K", "amount": "mol", "light": "cd"}
_BASES = tuple(_SI)  # in the order of openPMD's unitDimension
_POWER = re.compile(r"^([A-Za-z]+)(?:\^(-?\d+))?$")


def _name(base: str, si: float) -> str:
    """The name of a unit: 'kpc', '1e10 Msun', '3.2e+05 m'."""
    for name, value in _KNOWN.get(base, {}).items():
        power = math.log10(si / value)
        if abs(power - round(power)) < 4e-5 and round(power) == 0:
            return name
    for name in ("Msun", "m", "kg", "s"):
        if name in _KNOWN.get(base, {}):
            power = math.log10(si / _KNOWN[base][name])
            if abs(power - round(power)) < 4e-5:
                return f"(1e{round(power)} {name})"
    return _SI[base] if si == 1 else f"({si:.6g} {_SI[base]})"


class Units:
    """Units of one run.

    Parameters
    ----------
    scale
        SI values of ``length``, ``mass`` and ``time``; None where the scenario states no units.
    """

    def __init__(self, scale: Mapping[str, Any] | None) -> None:
        self.names: dict[str, str] | None = None
        if scale is not None:
            try:
                self.names = {base: _name(base, float(scale[base])) for base in ("length", "mass", "time")}
            except (KeyError, TypeError, ValueError):
                self.names = None

    def text(self, powers: Sequence[float]) -> str:
        """The unit of a dimension as text: 'kpc Myr^-1', '1' for a pure number.

        Without stated units it reads 'length time^-1'.
        """
        words = []
        for base, power in zip(_BASES, powers):
            if power != 0:
                name = self.names.get(base, _SI[base]) if self.names else base
                words.append(name if power == 1 else f"{name}^{power:g}")
        return " ".join(words) or "1"

    def label(self, name: str, unit: str) -> str:
        """An axis label: 'x (kpc)'; the name alone for a pure number or where no units are stated."""
        if unit in ("", "1") or self.names is None:
            return name
        raised = re.sub(r"\^(-?[0-9.]+)", r"$^{\1}$", unit)
        return f"{name} ({raised})"


def powers_of(unit: str) -> tuple[float, ...]:
    """The powers of length, mass and time in a table's unit: 'length^2 mass time^-2', '5.9e+42 m^2 kg s^-2'."""
    powers = dict.fromkeys(_BASES, 0.0)
    bases = {**{base: base for base in _BASES}, **{si: base for base, si in _SI.items()}}
    for word in unit.split():
        match = _POWER.match(word)
        if match and match[1] in bases:
            powers[bases[match[1]]] += float(match[2] or 1)
    return tuple(powers.values())
