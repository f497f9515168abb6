#!/usr/bin/env bash
# `dev` on a small tree of its own, with a space in its path and a stand-in for CMake: from any folder, by a link,
# quiet, with signals and exit codes passed on, and one clear line where something is missing.
set -euo pipefail
unset CC CFLAGS LDFLAGS SIM_WERROR "${!CMAKE_@}" # of whoever builds here
root=${ROOT:?the source tree}
scratch=$(mktemp -d "${TMPDIR:-/tmp}/sim test.XXXXXX")
bin=$(mktemp -d "${TMPDIR:-/tmp}/sim-bin.XXXXXX") # make has no way with spaces
trap 'rm -rf -- "$scratch" "$bin"' EXIT
fail() {
  echo "FAILED: $*" >&2
  exit 1
}

tree="$scratch/a tree"
mkdir -p "$tree/cli" "$scratch/elsewhere"
cp -- "$root/dev" "$tree/dev"
cp -- "$root/CMakePresets.json" "$tree/"
cat >"$tree/CMakeLists.txt" <<'CMAKE'
cmake_minimum_required(VERSION 3.25)
project(small LANGUAGES C)
find_program(NVCC nvcc NO_CACHE NO_CMAKE_SYSTEM_PATH)
if(NVCC)
  if(SIM_CUDA_QUICK)
    set(quickly ", quickly")
  endif()
  set(SIM_CUDA_SUMMARY "CUDA toolkit: for the GPU too (${SIM_CUDA_ARCHITECTURES}${quickly})" CACHE INTERNAL "")
else()
  set(SIM_CUDA_SUMMARY "no CUDA toolkit: building for the CPU only" CACHE INTERNAL "")
endif()
add_subdirectory(cli)
CMAKE
cat >"$tree/cli/CMakeLists.txt" <<'CMAKE'
add_executable(sim sim.c)
add_custom_target(sim_pages DEPENDS sim)
CMAKE
cat >"$tree/cli/sim.c" <<'C'
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
int main(int argc, char **argv) {
  if (argc > 1 && strcmp(argv[1], "pid") == 0) return printf("%ld\n", (long)getpid()) < 0;
  if (argc > 1 && strcmp(argv[1], "die") == 0) return raise(SIGTERM);
  for (int i = 1; i < argc; i++) printf("[%s]", argv[i]);
  printf("\n");
  return 75;
}
C
ln -s "$tree/dev" "$scratch/elsewhere/link"
cd -- "$scratch/elsewhere"
PATH=$(printf '%s' "$PATH" | tr ':' '\n' | while IFS= read -r folder; do
  [ -x "$folder/nvcc" ] || printf '%s:' "$folder"
done)
PATH=${PATH%:}
command -v cmake >/dev/null || { echo "skipped: nvcc lies beside the tools that a build needs" && exit 77; }

code=0
output=$("$tree/dev" sim "two words" "" '*' 2>"$scratch/log") || code=$?
[ "$code" = 75 ] || { cat "$scratch/log" >&2 && fail "dev sim: exit $code"; }
[ "$output" = "[two words][][*]" ] || fail "dev sim: arguments became $output"
[ "$(grep -c 'for the CPU only' "$scratch/log")" = 1 ] || fail "not one line about the CPU build"

# Warnings are errors where this is requested, and stay so in that folder; never for users.
werror() { grep -q '^SIM_WERROR:[A-Z]*=ON$' "$tree/build/release/CMakeCache.txt"; }
! werror || fail "warnings are errors for users"
! grep -rq WERROR "$tree/CMakePresets.json" || fail "a preset makes warnings errors"
SIM_WERROR=ON "$tree/dev" build 2>"$scratch/log" && werror || fail "SIM_WERROR=ON is not heard"
"$tree/dev" build 2>"$scratch/log" && werror && [ ! -s "$scratch/log" ] || fail "SIM_WERROR=ON does not stay"
SIM_WERROR=OFF "$tree/dev" build 2>"$scratch/log" && ! werror || fail "SIM_WERROR=OFF is not heard"

code=0
output=$(./link run s.lua -o x 2>"$scratch/log") || code=$?
[ "$code" = 75 ] && [ "$output" = "[run][s.lua][-o][x]" ] || fail "dev run by a link: $code $output"
[ ! -s "$scratch/log" ] || fail "a build without work is not quiet: $(cat "$scratch/log")"

# A toolkit appears, stays, and disappears.
mkdir "$scratch/cuda"
printf '#!/bin/sh\n' >"$scratch/cuda/nvcc"
chmod +x "$scratch/cuda/nvcc"
PATH=$PATH:$scratch/cuda "$tree/dev" build 2>"$scratch/log" || fail "a build with a toolkit"
grep -q 'CUDA toolkit: for the GPU too (native)' "$scratch/log" || fail "no toolkit: $(cat "$scratch/log")"
PATH=$PATH:$scratch/cuda "$tree/dev" build 2>"$scratch/log" && [ ! -s "$scratch/log" ] || fail "a toolkit that stays is not quiet"
"$tree/dev" build 2>"$scratch/log" || fail "a build after a toolkit"
grep -q 'for the CPU only' "$scratch/log" || fail "a toolkit that goes: $(cat "$scratch/log")"

# Tests compile GPU code quickly where no GPU is, in new folders alone; what others build is never so.
if ! compgen -G '/dev/nvidia[0-9]*' >/dev/null && ! nvidia-smi -L >/dev/null 2>&1; then
  quickly() { grep -q '^SIM_CUDA_SUMMARY:INTERNAL=.*quickly' "$tree/build/release/CMakeCache.txt"; }
  with_toolkit() { PATH=$PATH:$scratch/cuda "$tree/dev" "$@" >"$scratch/log" 2>&1 || fail "dev $*: $(cat "$scratch/log")"; }
  with_toolkit build
  with_toolkit test -N && ! quickly || fail "a test makes an old folder quick"
  rm -rf "$tree/build/release"
  with_toolkit test -N && quickly || fail "a test does not compile quickly"
  with_toolkit test -N && quickly || fail "a second test does not compile quickly"
  with_toolkit build && ! quickly || fail "a build after a test is quick"
  grep -q 'is for tests: building it anew' "$scratch/log" || fail "no word on GPU code for tests: $(cat "$scratch/log")"
  with_toolkit build && [ ! -s "$scratch/log" ] || fail "a build after that is not quiet"
  "$tree/dev" build 2>"$scratch/log" || fail "a build after a toolkit"
fi

"$tree/dev" sim pid >"$scratch/pid" &
pid=$!
wait "$pid" && [ "$(cat "$scratch/pid")" = "$pid" ] || fail "dev sim is not replaced by sim"
code=0
"$tree/dev" sim die || code=$?
[ "$code" = 143 ] || fail "a signal became exit $code"

code=0
"$tree/dev" frobnicate 2>"$scratch/log" || code=$?
[ "$code" = 64 ] || fail "unknown command: exit $code"
code=0
"$tree/dev" build fast 2>"$scratch/log" || code=$?
[ "$code" = 64 ] || fail "unknown preset: exit $code"

code=0
"$tree/dev" package rpm 2>"$scratch/log" || code=$?
[ "$code" = 64 ] || fail "unknown package: exit $code"
code=0
"$tree/dev" doctor >"$scratch/log" || code=$?
[ "$code" = 75 ] && grep -qx '\[doctor\]' "$scratch/log" || fail "dev doctor with a built program: exit $code"

# A build that fails shows its end and names the file with the rest.
echo '#error planted' >>"$tree/cli/sim.c"
code=0
"$tree/dev" build 2>"$scratch/log" || code=$?
[ "$code" = 1 ] && grep -q planted "$scratch/log" && grep -q build.log "$scratch/log" || fail "a failing build: $code"
[ "$(wc -l <"$scratch/log")" -le 42 ] || fail "a failing build is too loud"

# Something is missing, and nothing can be installed: a PATH without apt-get and with an old cmake.
for tool in bash sh env cat mkdir rm dirname readlink ln basename sed tr grep sort id stat nproc tail printf make ld as ar ranlib; do
  ln -s "$(command -v "$tool")" "$bin/$tool"
done
printf '#!/bin/sh\necho cmake version 3.18.4\n' >"$bin/cmake"
chmod +x "$bin/cmake"
rm -rf -- "$tree/build"
code=0
PATH=$bin "$tree/dev" build 2>"$scratch/log" || code=$?
[ "$code" = 69 ] || { cat "$scratch/log" >&2 && fail "missing tools: exit $code"; }
[ "$(wc -l <"$scratch/log")" = 1 ] || fail "missing tools: not one line"
for word in 'C compiler' 'cmake >= 3.25' 'lua.h' 'apt-get install' 'libhdf5-dev'; do
  grep -q -- "$word" "$scratch/log" || fail "missing tools: no '$word' in: $(cat "$scratch/log")"
done

code=0
PATH=$bin "$tree/dev" doctor >"$scratch/log" 2>&1 || code=$?
[ "$code" = 83 ] && grep -q '^build *FAULT missing: .*lua.h' "$scratch/log" && grep -q '^program *none' "$scratch/log" ||
  fail "dev doctor without what a build needs: exit $code"
[ ! -e "$tree/build/install.log" ] || fail "dev doctor installs"

# The same with an apt-get that installs the tools, for a user who may use it.
if [ "$(id -u)" = 0 ]; then
  sed -i '/planted/d' "$tree/cli/sim.c"
  cat >"$bin/apt-get" <<SH
#!/bin/sh
echo "\$*" >>"$scratch/apt"
rm "$bin/cmake"
for tool in cc cmake uname; do ln -s "\$(PATH='$PATH' command -v \$tool)" "$bin/\$tool"; done
SH
  chmod +x "$bin/apt-get"
  code=0
  PATH=$bin "$tree/dev" sim x >/dev/null 2>"$scratch/log" || code=$?
  [ "$code" = 75 ] || { cat "$scratch/log" >&2 && sed -n "1,30p" "$tree"/build/release/*.log >&2; fail "installing: exit $code"; }
  [ "$(grep -c installing "$scratch/log")" = 1 ] || fail "installing: not one line says so"
  grep -q 'install.*cmake.*libhdf5-dev' "$scratch/apt" || fail "installing: apt-get was asked for $(cat "$scratch/apt")"
  : >"$scratch/apt"
  PATH=$bin "$tree/dev" sim x >/dev/null 2>"$scratch/log" || true
  [ ! -s "$scratch/apt" ] && [ ! -s "$scratch/log" ] || fail "a second call installs again"
fi
echo "dev does what it says"
