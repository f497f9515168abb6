#!/usr/bin/env python3
"""Compiles CUDA C++ for the emulated device: compile.py COMPILER ARGUMENT... FILE

Preprocesses, translates what a C++ compiler does not take, and compiles the result. Translated are launches, shared memory,
and the transforms that kernels/diffusion/cuda/dft.c writes as PTX; kernels that
are launched by their address or name get an entry. All else is in include/device.h.
"""
import os
import re
import subprocess
import sys


def launches(text):
    """kernel<<<grid, block, shared, stream>>>(arguments) -> calls(kernel) ->* on(...) ->* with(arguments)"""
    name = r"(\b\w+(?:\s*<[^<>;{}]*(?:<[^<>;{}]*>[^<>;{}]*)*>)?)\s*<<<(.*?)>>>\s*\("
    call = r"emulated::calls([=](auto... a) { \1(a...); })->*emulated::on(\2)->*emulated::with("
    return re.sub(name, call, text, flags=re.S)


def shared(text):
    """Shared memory of a block is static memory of the host's thread that runs it, filled with poison at first."""

    def dynamic(match):
        kind, name = match.group(1), match.group(2)
        kind = re.sub(r"__attribute__\s*\(\(.*?\)\)\)", "", kind)
        return f"{kind} *const {name} = ({kind} *)emulated::dynamic_shared();"

    def static(match):
        names = []
        depth, piece = 0, ""
        for c in match.group(1) + ",":
            depth += (c in "<([{") - (c in ">)]}")
            if c == "," and depth == 0:
                names.append(re.search(r"(\w+)\s*(\[.*\]\s*)*$", piece, flags=re.S).group(1))
                piece = ""
            else:
                piece += c
        fresh = "".join(
            f" static thread_local unsigned long emulated_{n}; emulated::fresh::poison({n}, emulated_{n});"
            for n in names)
        return f"static thread_local {match.group(1)};{fresh}"

    text = re.sub(r"extern\s+__shared__\s+([^;]*?)\s*(\w+)\s*\[\s*\]\s*;", dynamic, text)
    return re.sub(r"__shared__\s+([^;]*);", static, text)


def transforms(text):
    """asm("{ .reg .f32 t<N>; add.f32 t0, %0, %2; ... }" : "+f"(operand), ...);"""

    def plain(match):
        count, body, operands = match.group(1), match.group(2), re.findall(r'"\+f"\((.*?)\)(?=,|$)', match.group(3))

        def value(word):
            if word.startswith("t"):
                return f"t[{word[1:]}]"
            if word.startswith("%"):
                return operands[int(word[1:])]
            return f"__uint_as_float(0x{word[2:]}u)"

        lines = []
        for line in filter(None, (line.strip() for line in body.split(";"))):
            op, rest = line.split(" ", 1)
            to, *of = [value(word.strip()) for word in rest.split(",")]
            lines.append({"add.f32": "{} = {} + {};", "sub.f32": "{} = {} - {};", "mov.f32": "{} = {};",
                          "fma.rn.f32": "{} = __fmaf_rn({}, {}, {});"}[op].format(to, *of))
        return "{ float t[%d]; %s }" % (max(1, int(count)), " ".join(lines))

    root = r'asm volatile\("rsqrt\.approx\.ftz\.f32 %0, %0;" : "\+f"\((.*?)\)\);'  # engine/ceiling
    text = re.sub(root, r"\1 = 1 / std::sqrt(\1);", text)
    return re.sub(r'asm\("\{ \.reg \.f32 t<(\d+)>; (.*?)\}"\s*:\s*(.*?)\);\n', plain, text, flags=re.S)


def kernels(text):
    """Entries of the kernels that are no templates and whose name or address is used."""
    names = []
    for match in re.finditer(r"__global__", text):
        previous = text[:match.start()].rstrip()
        previous = re.sub(r'(static|inline|extern\s*"C")\s*$', "", previous).rstrip()
        if previous.endswith(">"):
            continue
        found = re.compile(r"__global__\s+void\s+(\w+)\s*\(").match(text, match.start())
        if found and found.group(1) not in names:
            name = found.group(1)
            if 'extern "C"' in text[match.start() - 16:match.start()] or re.search(rf"\(void \*\)\s*{name}\b", text):
                names.append(name)
    text = re.sub(r"\b__global__\b", "", text)
    text = re.sub(r"(?<!\()\b__noinline__\b", "__attribute__((noinline))", text)
    entries = "".join(
        f'static emulated::kernel emulated_kernel_{n}("{n}", (const void *)&{n}, emulated::binder<&{n}>::bind);\n'
        for n in names)
    return text + "\n" + entries


def without_includes(options):
    kept, skip = [], False
    for word in options:
        if not skip and not word.startswith(("-I", "-D", "-isystem", "-include")):
            kept.append(word)
        skip = word in ("-isystem", "-include") and not skip
    return kept


def main():
    command = sys.argv[1:]
    source = next((a for a in command if a.endswith(".cu")), None)
    if source is None:
        return subprocess.call(command)
    out = command[command.index("-o") + 1]
    drop, kept, skip = {"-o": 1, "-c": 0, "-x": 1, "-MD": 0, "-MMD": 0, "-MT": 1, "-MF": 1, source: 0}, [], 0
    dependencies = []
    for k, word in enumerate(command):
        if skip:
            skip -= 1
            continue
        if word in ("-MD", "-MT", "-MF"):
            dependencies += command[k:k + 1 + drop[word]]
        if word in drop:
            skip = drop[word]
        elif not word.startswith(("-fmad=", "-Xcompiler=")):  # for nvcc
            kept.append(word)
    own = os.path.join(os.path.dirname(os.path.abspath(__file__)), "include")
    compiler, options = kept[0], ["-I" + own, *kept[1:]]  # before the tree: it has a ptx.cuh of its own
    options += ["-include", "cuda_runtime.h"]  # as nvcc does
    library = "-shared" in options  # at run time: nothing of the text's own folder, so that a compiler's cache finds it
    options = [o for o in options if o != "-shared"]
    done = subprocess.run([compiler, *options, *dependencies, "-E", *["-P"] * library, "-x", "c++", source],
                          stdout=subprocess.PIPE)
    if done.returncode:
        return done.returncode
    text = done.stdout.decode()
    for step in (launches, shared, transforms, kernels):
        text = step(text)
    between = out + ".ii"
    with open(between, "w") as file:
        file.write(text)
    cache = os.environ.get("SIM_EMULATED_CACHE", "").split()
    options = without_includes(options)
    made = out + ".o" if library else out
    code = subprocess.call([*cache, compiler, *options, "-c", between, "-o", made])
    if code == 0 and library:
        code = subprocess.call([compiler, "-shared", made, "-o", out])
    if code == 0 and not os.environ.get("SIM_EMULATED_KEEP"):
        os.unlink(between)
    return code


if __name__ == "__main__":
    sys.exit(main())
