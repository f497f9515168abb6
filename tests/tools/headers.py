#!/usr/bin/env python3
"""Compiles each header alone, with the options of a source that includes it.

headers.py ROOT BUILD FILE...: one line "FILE: first error" for each header that does not compile. `.h` are C and
`.cuh` are CUDA. Headers that no source of this build includes are left out.
"""

import json
import os
import re
import shlex
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

root, build, headers = Path(sys.argv[1]).resolve(), Path(sys.argv[2]), [Path(name) for name in sys.argv[3:]]


def included(file: Path, found: set[Path]) -> set[Path]:
    """All files of the tree that a file includes, directly or not."""
    for name in re.findall(r'^\s*#\s*include\s+"([^"]+)"', (root / file).read_text(), re.MULTILINE):
        if Path(name) not in found and (root / name).is_file():
            found.add(Path(name))
            included(Path(name), found)
    return found


sources: list[tuple[Path, list[str], set[Path]]] = []
for entry in json.loads((build / "compile_commands.json").read_text()):
    path = Path(entry["directory"], entry["file"]).resolve()
    if path.is_relative_to(root) and not path.is_relative_to(build.resolve()):
        path = path.relative_to(root)
        sources.append((path, shlex.split(entry["command"]), included(path, set())))


def options(header: Path) -> list[str] | None:
    """The command, without its files, of the nearest source that includes the header; None where this build has none."""
    suffix = ".cu" if header.suffix == ".cuh" else ".c"
    fits = [(len(Path(os.path.commonpath([source, header])).parts), command)
            for source, command, seen in sources if source.suffix == suffix and header in seen]  # fmt: skip
    if not fits:
        return None
    command = max(fits, key=lambda fit: fit[0])[1]
    kept, skip = [], False
    for word in command:
        takes = word in ("-o", "-c", "-x", "-MF", "-MT")  # with the word behind it
        if not skip and not takes and word != "-MD" and not word.endswith("ccache"):
            kept.append(word)
        skip = takes
    return [word for word in kept if not word.startswith(("-O", "--generate-code"))]


def check(header: Path) -> str | None:
    command = options(header)
    if command is None:
        return None
    if header.suffix == ".cuh":
        command += ["-x", "cu", "-arch=native" if "-arch=native" in command else "-arch=sm_90", "-ptx", "-w", "-o", os.devnull]
    else:
        command += ["-Wno-error", "-Werror=implicit-function-declaration", "-fsyntax-only", "-x", "c"]  # which GCC 12 accepts
    found = subprocess.run([*command, "-I", str(root), str(root / header)], capture_output=True, text=True, check=False)
    if found.returncode == 0:
        return None
    lines = (found.stderr + found.stdout).splitlines()
    return f"{header}: {next((line for line in lines if 'error' in line), 'does not compile')}"


with ThreadPoolExecutor() as pool:
    for line in pool.map(check, headers):
        if line is not None:
            print(line)
