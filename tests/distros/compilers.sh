#!/usr/bin/env bash
# Everything, with every GCC and Clang that is installed, or with those that are named: no warning in a release build (-O2,
# hot loops -O3), an -O2 build with assertions, and a debug build. compilers.sh [COMPILER...]. ROOT: the source tree.
# Some ten minutes of processor time a build.
set -euo pipefail
root=${ROOT:?the source tree}
scratch=$(mktemp -d "${TMPDIR:-/tmp}/sim-compilers.XXXXXX")
trap 'rm -rf -- "$scratch"' EXIT
compilers=("$@")
if ((${#compilers[@]} == 0)); then
  for version in "" -{11..20}; do
    for name in gcc clang; do
      if command -v "$name$version" >/dev/null; then compilers+=("$name$version"); fi
    done
  done
fi
generator=()
if command -v ninja >/dev/null; then generator=(-G Ninja); fi

failed=0 built=0
for compiler in "${compilers[@]}"; do
  for kind in Release RelWithDebInfo Debug; do
    folder=$scratch/$compiler-$kind
    flags=
    [ "$kind" != RelWithDebInfo ] || flags=-UNDEBUG
    if ! cmake -S "$root" -B "$folder" "${generator[@]}" -DCMAKE_C_COMPILER="$compiler" -DCMAKE_BUILD_TYPE="$kind" \
      -DCMAKE_C_FLAGS="$flags" -DSIM_CUDA=OFF >"$scratch/log" 2>&1; then
      if grep -q 'Could NOT find OpenMP' "$scratch/log"; then
        echo "$compiler: left out, as its OpenMP is not installed (Debian: libomp-N-dev)"
        break
      fi
      tail -n 20 "$scratch/log"
      echo "$compiler, $kind: not configured"
      failed=$((failed + 1))
      continue
    fi
    code=0
    cmake --build "$folder" --parallel "$(nproc)" >"$scratch/log" 2>&1 || code=$?
    warnings=$(grep -cE '(warning|error):' "$scratch/log") || true
    echo "$("$compiler" --version | head -n 1), $kind: exit $code, $warnings warnings"
    if [ "$code" != 0 ] || [ "$warnings" != 0 ]; then
      grep -E '(warning|error):' "$scratch/log" | sort | uniq -c | sort -rn | head -n 30
      failed=$((failed + 1))
    fi
    built=$((built + 1))
    rm -rf -- "$folder"
  done
done
((built > 0)) || { echo "skipped: no compiler could be tried" && exit 77; }
((failed == 0))
