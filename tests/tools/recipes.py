#!/usr/bin/env python3
"""packaging/sim.def repeats packaging/Dockerfile: the same base images, packages and options of CMake in both stages.

recipes.py ROOT. tests/distros/containers.sh runs the commands.
"""

import re
import sys
from pathlib import Path


def told(text: str) -> dict[str, list[str]]:
    """The contents of a recipe, by subject; continued lines are joined, and variables left out."""
    text = re.sub(r"\$\{\w+(:\+[^{}]*(\$\{\w+\})?[^{}]*)?\}", "", re.sub(r"\\\n", " ", text))
    lines = [line for line in text.splitlines() if not line.lstrip().startswith("#")]
    return {
        "base images": re.findall(r"^(?:ARG (?:BASE|RUN)=|From: )(\S+)", text, re.MULTILINE),
        "packages": [" ".join(words.split()) for line in lines for words in re.findall(r"--no-install-recommends([^&]*)", line)],
        "options of CMake": sorted(set(re.findall(r"-D\w+=\S+|-G \w+|--strip|--prefix \S+", "\n".join(lines)))),
    }


def faults(root: Path) -> list[str]:
    """Differences, one line each."""
    docker, apptainer = (told((root / "packaging" / name).read_text(encoding="utf-8")) for name in ("Dockerfile", "sim.def"))
    found = [f"{subject}: {docker[subject]} in the Dockerfile, {apptainer[subject]} in sim.def" for subject in docker if docker[subject] != apptainer[subject]]
    found += [f"no {subject} in the Dockerfile" for subject, held in docker.items() if len(held) < 2]
    user = re.findall(r"^USER (\S+)", (root / "packaging/Dockerfile").read_text(encoding="utf-8"), re.MULTILINE)
    if not user or not re.fullmatch(r"[1-9]\d*:[1-9]\d*", user[-1]):
        found.append(f"the Dockerfile's last user is {user[-1:]}, not a number other than 0")
    return found + [f"{name} is not pinned" for name in docker["base images"] if not re.search(r":\d+\.\d+", name)]


if __name__ == "__main__":
    lines = faults(Path(sys.argv[1]))
    print("\n".join(f"packaging: {line}" for line in lines), file=sys.stderr)
    sys.exit(bool(lines))
