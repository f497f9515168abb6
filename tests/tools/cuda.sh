#!/usr/bin/env bash
# How CMake reacts to a CUDA toolkit: present, absent, too old, broken, requested or refused. One line each.
set -euo pipefail
root=${ROOT:?the source tree}
scratch=$(mktemp -d "${TMPDIR:-/tmp}/sim-test.XXXXXX")
trap 'rm -rf -- "$scratch"' EXIT
fail() {
  echo "FAILED: $*" >&2
  cat "$scratch/log" >&2
  exit 1
}
cat >"$scratch/CMakeLists.txt" <<CMAKE
cmake_minimum_required(VERSION 3.25)
project(small LANGUAGES NONE)
include("$root/cmake/SimCuda.cmake")
message(STATUS "has cuda: \${SIM_HAS_CUDA} for \${CMAKE_CUDA_ARCHITECTURES}")
CMAKE
# says CODE TEXT OPTION...
says() {
  local code=$1 text=$2 got=0
  shift 2
  rm -rf "$scratch/build"
  cmake -S "$scratch" -B "$scratch/build" "$@" >"$scratch/log" 2>&1 || got=$?
  [ "$got" = "$code" ] || fail "exit $got, not $code: $*"
  tr -s '\n ' ' ' <"$scratch/log" | grep -qF -- "$text" || fail "no '$text': $*" # CMake breaks lines
}
# toolkit RELEASE CODE: a compiler that does nothing else.
toolkit() {
  printf '#!/bin/sh\n[ "$1" = --version ] && echo "Cuda compilation tools, release %s, V%s.1"\n[ "$1" = --version ] || exit %s\n' \
    "$1" "$1" "$2" >"$scratch/nvcc"
  chmod +x "$scratch/nvcc"
}

says 0 "SIM_CUDA=OFF: building for the CPU only" -DSIM_CUDA=OFF
says 0 "has cuda: FALSE" -DSIM_CUDA=OFF
says 0 "no CUDA toolkit: building for the CPU only" -DSIM_NVCC=/nowhere/nvcc
says 1 "SIM_CUDA=ON, but no CUDA toolkit" -DSIM_CUDA=ON -DSIM_NVCC=/nowhere/nvcc
says 1 "SIM_CUDA=yes: expected ON, OFF, AUTO or EMULATED" -DSIM_CUDA=yes
says 0 "sanitizers are for host code: building for the CPU only" -DSIM_SANITIZE=address
toolkit 11.8 0
says 0 "the CUDA toolkit 11.8 is older than 12.0: building for the CPU only" -DSIM_NVCC="$scratch/nvcc"
says 1 "SIM_CUDA=ON, but the CUDA toolkit 11.8 is older than 12.0" -DSIM_NVCC="$scratch/nvcc" -DSIM_CUDA=ON
toolkit 13.0 1
says 0 "CUDA toolkit 13.0: it does not work here" -DSIM_NVCC="$scratch/nvcc"
grep -q 'try.log' "$scratch/log" || fail "no word on what went wrong"

# The real toolkit, where there is one.
if [ -n "${NVCC:-}" ]; then
  says 0 "has cuda: TRUE for " -DSIM_CUDA=ON -DSIM_NVCC="$NVCC"
  grep -qE 'for (75-real;)?80-real;86-real;89-real;90-real;([0-9]+-real;)*([0-9]+)-virtual$' "$scratch/log" ||
    fail "the architectures of a release"
  says 0 "building for the GPU too (architecture 80 90)" -DSIM_CUDA_ARCHITECTURES="80;90" -DSIM_NVCC="$NVCC"
  says 0 "building for the GPU too (architecture 90)" -DSIM_CUDA_ARCHITECTURES=90 -DSIM_NVCC="$NVCC"
  if "$NVCC" --help | grep -q Ofast-compile; then
    says 0 "(architecture 90, quickly compiled for tests)" -DSIM_CUDA_ARCHITECTURES=90 -DSIM_NVCC="$NVCC" -DSIM_CUDA_QUICK=ON
  fi
fi
echo "a toolkit is found, or the reason is said"
