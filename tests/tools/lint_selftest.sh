#!/usr/bin/env bash
# Every rule of lint.sh detects a planted fault, and passes a clean tree.
set -euo pipefail

lint=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)/lint.sh
format_file=$(cd -- "$(dirname -- "$lint")/../.." && pwd)/.clang-format
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
tree=$scratch/tree
failed=0

make_tree() {
  mkdir -p "$tree"/{engine,lua,io,kernels/a,kernels/b,cli,viz,tests,build}
  cp "$format_file" "$tree/.clang-format"
  printf '#include "engine/x.h"\n\nint sim_x(void) { return 1; }\n' >"$tree/engine/x.c"
  printf 'int sim_x(void);\n' >"$tree/engine/x.h"
  printf '#include "engine/x.h"\n#include <lua.h>\n' >"$tree/lua/x.c"
  printf '#include "engine/x.h"\n#include <hdf5.h>\n' >"$tree/io/x.c"
  printf '#include "engine/x.h"\n#include "kernels/a/a.h"\n' >"$tree/kernels/a/a.c"
  printf '#include "io/io.h"\n#include "lua/scenario.h"\n' >"$tree/cli/x.c"
  printf 'import h5py\n' >"$tree/viz/x.py"
  printf '#!/usr/bin/env bash\necho\n' >"$tree/tests/x.sh"
  printf 'add_library(x x.c)\n' >"$tree/CMakeLists.txt"
  compile engine sim_x
  cp -a "$tree" "$scratch/clean"
}
clean_tree() {
  rm -rf "$tree"
  cp -a "$scratch/clean" "$tree"
}
compile() { # compile LIBRARY FUNCTION
  printf 'int %s(void);\nint %s(void) { return 1; }\n' "$2" "$2" >"$tree/build/x.c"
  cc -c -o "$tree/build/x.o" "$tree/build/x.c"
  rm -f "$tree/build/libsim_$1.a" "$tree/build/x.c"
  ar rc "$tree/build/libsim_$1.a" "$tree/build/x.o"
}
# sees RULE TEXT: the rule fails on the present tree, and its message contains TEXT.
sees() {
  local output
  if output=$("$lint" --root "$tree" --build "$tree/build" "$1") || ! grep -qF -- "$2" <<<"$output"; then
    printf 'not seen by %s: %s\n%s\n' "$1" "$2" "$output"
    failed=1
  fi
  clean_tree
}

make_tree
if ! "$lint" --root "$tree" --build "$tree/build" >"$tree/build/log"; then
  cat "$tree/build/log"
  failed=1
fi

if command -v clang-format-14 >/dev/null; then
  printf 'int   sim_y;\n' >"$tree/engine/y.c"
  sees format engine/y.c
fi

for pair in 'engine/y.c io/io.h' 'engine/y.h kernels/a/a.h' 'lua/y.c io/io.h' 'io/y.c lua/scenario.h' \
  'kernels/a/y.c io/io.h' 'kernels/a/y.c kernels/b/b.h' 'kernels/a/y.c lua/scenario.h' 'io/y.c ../kernels/a/a.h' \
  'cli/y.c tests/y.h' 'viz/y.c engine/x.h'; do
  printf '#include "%s"\n' "${pair#* }" >"$tree/${pair% *}"
  sees includes "${pair% *}:1"
done
for header in lua.h hdf5.h cuda_runtime.h lua5.4/lua.h; do
  printf '\n#include <%s>\n' "$header" >"$tree/engine/y.h"
  sees includes engine/y.h:2
done
printf '#include <hdf5.h>\n' >"$tree/kernels/b/y.c"
sees includes kernels/b/y.c:1
printf 'import ctypes\n' >"$tree/viz/y.py"
sees includes viz/y.py:1

for pair in 'engine helper' 'lua sim_helper' 'io sim_helper' 'cli io_helper' 'model_a b_helper'; do
  compile "${pair% *}" "${pair#* }"
  sees symbols "exports ${pair#* }"
done
printf '[{"directory": "%s", "file": "%s/engine/x.c", "command": "cc -I%s -c engine/x.c -o x.o"}]' "$tree" "$tree" "$tree" \
  >"$tree/build/compile_commands.json"
printf 'sim_missing sim_x(void);\n' >"$tree/engine/x.h"
sees headers engine/x.h

printf 'set(x %0130d)\n' 1 >"$tree/CMakeLists.txt"
sees columns CMakeLists.txt:1

rm "$tree"/build/*.a
sees symbols "no library"

for options in '' '-fmad=false -fmad=true'; do
  printf '  "command": "nvcc %s -x cu -c /a/y.cu -o y.o",\n' "$options" >"$tree/build/compile_commands.json"
  sees cuda /a/y.cu
done

for text in 'x = __shfl_xor_sync(~0u, x, 1);' '  asm volatile("exit;");' '__syncwarp();'; do
  printf '%s\n' "$text" >"$tree/kernels/a/y.cuh"
  sees device kernels/a/y.cuh:1
done

# shellcheck disable=SC2016
for text in 'exit(1);' 'if (x) abort();' 'printf("x");' 'fprintf(stderr, "x");' 'fputs("x", stdout);' 'perror("x");'; do
  printf 'void sim_y(int x) {\n  %s\n}\n' "$text" >"$tree/io/y.c"
  sees library io/y.c:2
done

printf 'add_compile_options(-ffast-math)\n' >"$tree/CMakeLists.txt"
sees numerics CMakeLists.txt:1
printf 'set(x -Ofast)\n' >"$tree/y.cmake"
sees numerics y.cmake:1
printf '#pragma omp parallel for reduction(+ : s)\n' >"$tree/kernels/a/y.c"
sees numerics kernels/a/y.c:1

printf 'x \n' >"$tree/y.md"
sees blanks y.md:1
printf 'x' >"$tree/y.lua"
sees blanks y.lua
printf 'x\n-- %s: more\n' TO""DO >"$tree/y.lua"
sees words y.lua:2
printf '/* %s */\n' FIX""ME >"$tree/engine/y.h"
sees words engine/y.h:1
printf 'if true; then\n' >"$tree/tests/y.sh"
sees shell tests/y.sh

((failed == 0)) && echo "every planted fault was seen"
exit "$failed"
