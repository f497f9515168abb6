#!/usr/bin/env python3
"""Circles of calls between the sources of a library, and of includes.

  circles.py LIBRARY.a...    sources that call each other in a circle, from the symbols of their objects
  circles.py FOLDER...       files that include each other in a circle

Objects of one source, built for several precisions or instruction sets, count as one. The exit status is 1 where there
is a circle."""
import os
import re
import subprocess
import sys


def circles(edges):
    """Strongly connected components of more than one node (R. Tarjan, 1972)."""
    index, low, stack, found = {}, {}, [], []

    def visit(node):
        index[node] = low[node] = len(index)
        stack.append(node)
        for other in sorted(edges.get(node, ())):
            if other not in index:
                visit(other)
            if other in stack:
                low[node] = min(low[node], low[other])
        if low[node] == index[node]:
            at = stack.index(node)
            if len(stack) - at > 1:
                found.append(sorted(stack[at:]))
            del stack[at:]

    for node in sorted(edges):
        if node not in index:
            visit(node)
    return found


def calls(library):
    defined, wanted = {}, {}
    # Members of an archive have no folders: objects of one name are told apart by their order.
    name, number, seen = None, 0, {}
    for line in subprocess.run(["nm", library], capture_output=True, text=True, check=True).stdout.splitlines():
        if line.endswith(".o:"):
            name = line[:-1].rsplit(":", 1)[0]
            seen[name] = seen.get(name, 0) + 1
            number = f"{name} #{seen[name]}" if seen[name] > 1 else name
        fields = line.split()
        if len(fields) == 3 and fields[1] in "TDRBGSVW":
            defined[fields[2]] = number
        elif len(fields) == 2 and fields[0] == "U":
            wanted.setdefault(number, set()).add(fields[1])
    return {file: {defined[s] for s in symbols if s in defined and defined[s] != file} for file, symbols in wanted.items()}


def includes(folder):
    edges = {}
    for where, _, names in os.walk(folder):
        for name in names:
            if name.endswith((".c", ".h", ".cu", ".cuh")):
                path = os.path.normpath(os.path.join(where, name))
                with open(path, encoding="utf-8") as file:
                    edges[path] = set(re.findall(r'^\s*#\s*include\s+"([^"]+)"', file.read(), re.M))
    return edges


failed = False
for argument in sys.argv[1:]:
    for circle in circles(includes(argument) if os.path.isdir(argument) else calls(argument)):
        print(f"{argument}: circle: {', '.join(circle)}")
        failed = True
sys.exit(failed)
