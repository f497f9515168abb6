#!/usr/bin/env bash
# The house rules that a machine can check. lint.sh [--root DIR] [--build DIR] [--fix] [RULE...]
#   format    C sources are as clang-format 14 leaves them (--fix: rewrites them)
#   includes  cli -> lua, kernels, io -> engine; no foreign type in an engine header; viz knows files alone
#   symbols   what a library exports carries its folder's prefix (needs --build)
#   headers   every .h and .cuh compiles alone (needs --build; .cuh where that has GPU code); fragments are .inc
#   cuda      every .cu says once whether multiply-adds are contracted (needs --build)
#   device    intrinsics of warps and PTX of kernels/ stand in kernels/common/device.cuh and ptx.cuh alone; PTX that a program
#             writes into a text for NVRTC is not seen: kernels/diffusion/cuda/dft.c
#   library   no exit, abort or print in engine, lua, io and kernels
#   numerics  nothing that lets the compiler or OpenMP choose an order of summation (bench/ may: it has others' ways)
#   columns   lines of CMake within 120 columns
#   blanks    no trailing blanks, a newline at the end
#   words     no notes to do something later
#   shell     shell scripts parse
set -euo pipefail

tools=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
root=$(cd -- "$tools/../.." && pwd)
build=
fix=false
rules=()
while (($#)); do
  case $1 in
    --root) root=$(cd -- "$2" && pwd) && shift ;;
    --build) build=$(cd -- "$2" && pwd) && shift ;;
    --fix) fix=true ;;
    *) rules+=("$1") ;;
  esac
  shift
done
if ((${#rules[@]} == 0)); then rules=(format includes symbols headers cuda device library numerics columns blanks words shell); fi

cd -- "$root"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
: >"$scratch/faults" # a file, for rules look at files at the end of pipes
fault() {            # fault RULE TEXT
  printf 'lint: %s: %s\n' "$1" "$2" | tee -a "$scratch/faults"
}
note() { printf 'lint: %s: %s\n' "$1" "$2"; }

# files NAME-PATTERN...: under the root, without files that are built or written by runs.
files() {
  local -a names=()
  local pattern
  for pattern in "$@"; do names+=(-o -name "$pattern"); done
  find . \( -name .git -o -path ./build -o -name '*.out' -o -name __pycache__ -o -path ./.venv \) -prune \
    -o -type f \( "${names[@]:1}" \) -print | sed 's|^\./||' | sort
}
under() { grep -E "^($1)/" || true; } # keeps the files of a folder

# each COMMAND... < list of files: the command with many of them at a time.
each() { xargs -r -d '\n' "$@"; }

# matches RULE REASON PATTERN < list of files
matches() {
  local file line
  while IFS=: read -r file line _; do
    fault "$1" "$file:$line: $2"
  done < <(each grep -nHE -- "$3" || true)
}

rule_format() {
  local tool='' candidate file
  find_tool() {
    for candidate in clang-format-14 clang-format; do
      if "$candidate" --version 2>/dev/null | grep -q 'version 14\.'; then
        tool=$candidate
        return
      fi
    done
  }
  find_tool
  if [ -z "$tool" ] && [ "${CI:-}" = true ] && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    note format "installing clang-format-14 (apt-get)"
    { apt-get -q update && DEBIAN_FRONTEND=noninteractive apt-get -q install -y --no-install-recommends \
      clang-format-14; } >/dev/null 2>&1 </dev/null || true
    find_tool
  fi
  if [ -z "$tool" ]; then
    local reason
    reason="clang-format 14 wanted, found $(clang-format --version 2>/dev/null || echo none)"
    if [ "${CI:-}" = true ] || $fix; then fault format "$reason"; else note format "skipped: $reason"; fi
    return
  fi
  files '*.c' '*.h' '*.inc' '*.cu' '*.cuh' >"$scratch/sources"
  if $fix; then
    each -P "$(nproc)" -n 64 "$tool" -i --style=file <"$scratch/sources"
    return
  fi
  if each -P "$(nproc)" -n 64 "$tool" --style=file --dry-run -Werror <"$scratch/sources" >/dev/null 2>&1; then return; fi
  while IFS= read -r file; do
    "$tool" --style=file "$file" | cmp -s - "$file" ||
      fault format "$file: $("$tool" --style=file "$file" | diff "$file" - | grep -c '^[<>]') lines differ: ./dev format"
  done <"$scratch/sources"
}

# refuse FOLDERS PATTERN REASON: files of these folders include nothing that matches.
refuse() {
  files '*.c' '*.h' '*.cu' '*.cuh' | under "$1" | matches includes "$3" "^[[:space:]]*#[[:space:]]*include[[:space:]]*[<\"]($2)"
}
rule_includes() {
  local up='(\.\./)*'
  refuse engine "$up(lua|io|kernels|cli|viz|tests)/" "engine sees engine alone"
  refuse lua "$up(io|kernels|cli|viz|tests)/" "lua sees engine alone"
  refuse io "$up(lua|kernels|cli|viz|tests)/" "io sees engine alone"
  refuse kernels "$up(lua|io|cli|viz|tests)/" "a model sees engine alone"
  refuse 'engine|lua|io|kernels|cli' "$up(viz|tests)/" "nothing sees viz or tests"
  files '*.h' | under engine | matches includes "a foreign type in an engine header" \
    '#[[:space:]]*include[[:space:]]*([<"](.*/)?(lua|lauxlib|lualib|hdf5|H5[A-Za-z]*|cuda_[a-z_]*|nvrtc|nvTools[A-Za-z]*)\.h|<(.*/)?cuda\.h)'
  files '*.c' '*.h' | under 'engine|io|kernels|cli' | matches includes "Lua is for lua/ alone" \
    '#[[:space:]]*include[[:space:]]*[<"](.*/)?(lua|lauxlib|lualib)\.h'
  files '*.c' '*.h' | under 'engine|lua|kernels|cli' | matches includes "HDF5 is for io/ alone" \
    '#[[:space:]]*include[[:space:]]*[<"](.*/)?hdf5\.h'
  files '*.c' '*.h' '*.py' | under viz | matches includes "viz knows the file format alone" \
    '#[[:space:]]*include[[:space:]]*"|ctypes|cffi|libsim'
  # Models do not include each other, except collision/coupled.h; common/ is for code that two models share.
  local folder name
  for folder in kernels/*/; do
    [ -d "$folder" ] || continue
    name=$(basename -- "$folder")
    { files '*.c' '*.h' '*.cu' '*.cuh' | under "kernels/$name" | each grep -nHE '#[[:space:]]*include[[:space:]]*"kernels/' || true; } |
      grep -vE "\"kernels/($name/|common/|collision/coupled\.h\")" | cut -d: -f1,2 || true
  done | while IFS= read -r where; do fault includes "$where: a model does not see another one"; done
}

# prefix LIBRARY PREFIX
prefix() {
  local symbol
  while IFS= read -r symbol; do
    fault symbols "$(basename -- "$1") exports $symbol, not $2*"
  done < <(nm -g --defined-only "$1" 2>/dev/null | awk 'NF == 3 { print $3 }' |
    grep -vE '^(__asan_|__odr_asan|__tsan_|__ubsan_|__gcov|nvtx|InitializeInjectionNvtx)' | # NVTX is a header of functions
    grep -vE '3cub[0-9]+CUB_|5nvtx3|nvtxInitialize|4cuda3std|6thrust' | # and so are CUB and what it includes
    grep -vE "^(_Z(TS|TI|N|L|Z)*([0-9]+__device_stub__)?(_Z)?N?[0-9]+)?$2" | sort -u || true)
}
rule_symbols() {
  local library name seen=0
  if [ -z "$build" ]; then
    note symbols "skipped: no --build folder"
    return
  fi
  while IFS= read -r library; do
    name=$(basename -- "$library" .a)
    case $name in
      libsim_engine) prefix "$library" sim_ ;;
      libsim_lua) prefix "$library" scenario_ ;;
      libsim_io) prefix "$library" io_ ;;
      libsim_cli) prefix "$library" cli_ ;;
      libsim_model_*) prefix "$library" "${name#libsim_model_}_" ;;
      *) continue ;;
    esac
    seen=$((seen + 1))
  done < <(find "$build" -name 'libsim_*.a' | sort)
  ((seen)) || fault symbols "no library in $build"
}

rule_headers() {
  if [ -z "$build" ] || [ ! -f "$build/compile_commands.json" ]; then
    note headers "skipped: no --build folder"
    return
  fi
  local header
  local -a headers
  readarray -t headers < <(files '*.h' '*.cuh')
  python3 "$tools/headers.py" . "$build" "${headers[@]}" >"$scratch/headers" || fault headers "headers.py failed"
  while IFS= read -r header; do fault headers "$header"; done <"$scratch/headers"
}

# The optimiser contracts by default.
rule_cuda() {
  if [ -z "$build" ] || [ ! -f "$build/compile_commands.json" ]; then
    note cuda "skipped: no --build folder"
    return
  fi
  local file
  while IFS= read -r file; do
    [[ $file == */bench/* ]] || fault cuda "$file: compiled without one -fmad=: use sim_cuda_sources()"
  done < <(grep '"command": .*-x cu ' "$build/compile_commands.json" |
    awk '{ if (gsub(/ -fmad=(true|false)/, "&") != 1) { sub(/.* -c /, ""); sub(/ .*/, ""); print } }')
}

rule_device() {
  files '*.c' '*.h' '*.inc' '*.cu' '*.cuh' | under kernels | grep -vxE "kernels/common/(device|ptx)[.]cuh" |
    matches device "belongs into kernels/common/device.cuh or ptx.cuh, with its plain form in words" \
      '__(shfl|ballot|all|any|match|reduce)[a-z_]*sync|__(syncwarp|activemask|pipeline_[a-z_]*|cvta_[a-z_]*)[[:space:]]*\(|^[^"]*\<asm([[:space:]]+volatile)?[[:space:]]*\('
}

rule_library() {
  files '*.c' '*.h' '*.cu' '*.cuh' | under 'engine|lua|io|kernels' | matches library "library code never exits or prints" \
    '(^|[^_[:alnum:]>.])(exit|abort|quick_exit|printf|vprintf|puts|putchar|perror)[[:space:]]*\(|(fprintf|fputs|fputc|fwrite)[[:space:]]*\(.*\<(stdout|stderr)\>'
}

rule_numerics() {
  files CMakeLists.txt '*.cmake' CMakePresets.json '*.c' '*.h' '*.cu' '*.cuh' | grep -v '^bench/' |
    matches numerics "the order of a sum is ours to choose" \
      'f(ast|unsafe|associative|reciprocal)-math|-Ofast|-use_fast_math|#[[:space:]]*pragma[[:space:]]+omp.*reduction[[:space:]]*\('
}

rule_columns() {
  files CMakeLists.txt '*.cmake' | matches columns "longer than 120 columns" '^.{121}'
}

rule_blanks() {
  local file
  local -a names=('*.c' '*.h' '*.cu' '*.cuh' '*.cmake' CMakeLists.txt '*.json' '*.md' '*.lua' '*.sh' '*.py' dev LICENSE)
  files "${names[@]}" | grep -v '^tests/reject/' | matches blanks "trailing blank" '[[:blank:]]$'
  files "${names[@]}" | grep -v '^tests/reject/' >"$scratch/texts"
  # a last line without a newline is a line to grep, and none to wc
  while IFS= read -r file; do fault blanks "$file: no newline at the end"; done < <(
    join -t : -j 1 <(each grep -cH '' <"$scratch/texts" | sort) <(each wc -l <"$scratch/texts" | sed -n 's/^ *\([0-9]*\) \(.*\)$/\2:\1/p' | sort) |
      awk -F : '$2 != $3 { print $1 }'
  )
}

rule_words() {
  files '*.c' '*.h' '*.cu' '*.cuh' '*.cmake' CMakeLists.txt '*.md' '*.lua' '*.sh' '*.py' dev |
    matches words "do it, or open an issue" '\<(TO[D]O|FIX[M]E|X[X]X)\>'
}

rule_shell() {
  local file
  while IFS= read -r file; do
    bash -n "$file" 2>"$scratch/shell" || fault shell "$(head -n 1 "$scratch/shell")"
  done < <(
    files '*.sh'
    for file in dev .ci/run; do [ -f "$file" ] && echo "$file"; done
  )
}

for rule in "${rules[@]}"; do
  if ! declare -F "rule_$rule" >/dev/null; then
    printf 'lint: no rule %s\n' "$rule" >&2
    exit 64
  fi
  "rule_$rule"
done
if [ -s "$scratch/faults" ]; then
  printf 'lint: %d faults\n' "$(wc -l <"$scratch/faults")"
  exit 1
fi
printf 'lint: clean (%s)\n' "${rules[*]}"
