#!/usr/bin/env python3
"""docs/gallery.md shows every scenario, each picture is there and small, and its commands name it.

gallery.py ROOT. docs/gallery.sh runs the commands.
"""

import re
import sys
from pathlib import Path

MOST = 150_000, 4_000_000  # bytes of a picture, and of all files in docs/


def faults(root: Path) -> list[str]:
    """Faults, one line each."""
    page = (root / "docs/gallery.md").read_text(encoding="utf-8")
    parts = re.split(r"^### (\S+)$", page, flags=re.MULTILINE)
    names, found = parts[1::2], []
    sections = dict(zip(names, parts[2::2]))
    scenarios = {path.stem for path in (root / "scenarios").glob("*.lua")}
    found += [f"scenario {name} is not in it" for name in sorted(scenarios - set(names))]
    found += [f"{name} stands twice" for name in sorted({name for name in names if names.count(name) > 1})]
    for name, text in sections.items():
        picture = root / f"docs/view_{name}.png"
        if f"](view_{name}.png)" not in text:
            found.append(f"{name} has no picture view_{name}.png")
        elif not picture.is_file():
            found.append(f"{picture.name} is not there")
        elif picture.stat().st_size > MOST[0]:
            found.append(f"{picture.name} has {picture.stat().st_size} bytes, more than {MOST[0]}")
        if not re.search(r"^[A-Z][^`\n]*\.$", text, re.MULTILINE):
            found.append(f"{name} has no line about what it shows")
        command = re.search(r"^`sim (run|sweep) scenarios/(\w+)\.lua([^`]*)`<br>`simview plot (\w+)\.out[^`]*`$", text, re.MULTILINE)
        if not command:
            found.append(f"{name} has no commands")
        elif command[4] != name or command[2] not in scenarios or (command[1] == "run" and command[2] != name):
            found.append(f"{name}: its commands are of {command[2]} and {command[4]}")
        elif command[1] == "sweep" and f" -o {name}.out" not in command[3]:
            found.append(f"{name}: its sweep goes elsewhere")
    left = {path.name for path in (root / "docs").glob("view_*.png")} - {f"view_{name}.png" for name in names}
    found += [f"{name} is shown nowhere" for name in sorted(left)]
    size = sum(path.stat().st_size for path in (root / "docs").rglob("*") if path.is_file())
    if size > MOST[1]:
        found.append(f"docs/ has {size} bytes, more than {MOST[1]}")
    return found


if __name__ == "__main__":
    lines = faults(Path(sys.argv[1]))
    print("\n".join(f"docs/gallery.md: {line}" for line in lines), file=sys.stderr)
    sys.exit(bool(lines))
