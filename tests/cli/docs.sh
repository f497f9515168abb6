#!/usr/bin/env bash
# What stands in the documents works: every block of Lua and of shell (docs.sh), and every block of Python, with the
# blocks of shell that draw (docs.sh python). That links lead somewhere: tests/tools/links.py.
#
# Before a block may stand a comment: "<!-- in: TEXT -->" is the rest of a scenario, in which the block stands for BLOCK;
# "<!-- not run: REASON -->" leaves a block of shell out. Blocks see what earlier ones of all pages left behind. Bodies
# are a sixtieth of what they are in the documents, and at least 16.
here=$(cd -- "${BASH_SOURCE[0]%/*}" && pwd)
. "$here/lib.sh"
: "${ROOT:?the source tree}"
kind=${1:-}
pages=("$ROOT/README.md" "$ROOT/CONTRIBUTING.md" "$ROOT"/docs/*.md "$ROOT"/docs/tutorials/*.md)

# Each block becomes a file PAGE_LINE.KIND; the text of the comment before it becomes PAGE_LINE.about.
mkdir blocks
awk '
  FNR == 1 { name = FILENAME; sub(/.*\//, "", name); sub(/\.md$/, "", name); about = "" }
  /^<!-- (in|not run): .* -->$/ { about = $0; sub(/^<!-- /, "", about); sub(/ -->$/, "", about); next }
  /^```/ && !inside { inside = 1; kind = substr($0, 4); file = sprintf("blocks/%s_%04d.%s", name, FNR, kind == "" ? "sh" : kind)
                      if (about != "") print about > substr(file, 1, length(file) - length(kind == "" ? "sh" : kind)) "about"
                      next }
  /^```$/ { inside = 0; about = ""; close(file); next }
  inside { print > file; next }
  NF { about = "" }' "${pages[@]}"
unknown=$(find blocks -type f ! -name '*.lua' ! -name '*.sh' ! -name '*.python' ! -name '*.about')
[ -z "$unknown" ] || fail "blocks of a language that is not known here: $unknown"

# A folder as a user has it: the sources, and `sim` and `dev` on the path. Commands that install, or need a cluster, do
# nothing.
smaller='function small(n) { n = int(n / 60); return n < 16 ? 16 : n }'
mkdir bin scenarios
for file in "$ROOT"/scenarios/*.lua; do
  awk "$smaller"' match($0, /sim\.param\("n", [0-9]+/) {
      $0 = substr($0, 1, RSTART + 14) small(substr($0, RSTART + 15, RLENGTH - 15)) substr($0, RSTART + RLENGTH) }
    { print }' "$file" >"scenarios/${file##*/}"
done
cp -r -- "$ROOT/data" .
cp scenarios/galaxy.lua .
cat >bin/sim <<SH
#!/usr/bin/env bash
words=() code=0
for word in "\$@"; do
  if [[ \$word =~ ^n=[0-9,]+\$ ]]; then
    word=n=\$(awk -F, '$smaller { for (i = 1; i <= NF; i++) printf "%s%d", (i > 1 ? "," : ""), small(\$i) }' <<<"\${word#n=}")
  fi
  words+=("\$word")
done
case "\$1 \$*" in
  *" --resume"*) ;;
  run* | *.lua*.lua*) [ "\$1" = batch ] || [ "\$1" = sweep ] || [ "\$1" = check ] || words+=(--force) ;;
esac
"$SIM" "\${words[@]}" || code=\$?
case " \$* " in *" --device cuda "*) [ \$code != 69 ] || code=0 ;; esac # no GPU here
exit \$code
SH
cat >dev <<'SH'
#!/usr/bin/env bash
case $1 in
  run) exec sim "$@" ;;
  sim) shift && exec sim "$@" ;;
  plot) exec simview "$@" ;;
  build) ;;
  *) exit 64 ;;
esac
SH
cat >bin/git <<'SH'
#!/usr/bin/env bash
[ "$1" = clone ] && mkdir "$3" && cp -r scenarios data dev "$3"
SH
for name in sbatch module pip; do printf '#!/bin/sh\n' >"bin/$name"; done
printf '#!/bin/sh\necho cmake version 3.25.1\n' >bin/cmake # sim doctor asks
chmod +x bin/* dev
export PATH=$PWD/bin:$PATH HOME=$PWD/home

shell_block() {
  local page=$1
  rm -rf sim
  timeout -k 5 400 bash -euo pipefail "$page" >output 2>&1 || fail "exit $?: the block $page: $(cat "$page")"
}
draws() { grep -qE 'simview|dev plot' "$1"; }
ran=0

if [ "$kind" != python ]; then
  # A picture of 16 by 16 points, and a run with a field v, which a block of scenario.md reads.
  base64 -d >cat.png <<'PNG'
iVBORw0KGgoAAAANSUhEUgAAABAAAAAQCAIAAACQkWg2AAAAHUlEQVR42mNkYGgQYGAgHrEwCDCQBEY1jGoYOhoAHgoCnoxpJwYAAAAASUVORK5CYII=
PNG
  cat >old.lua <<'LUA'
return sim.diffusion { grid = { n = {16, 16}, size = {1, 1} }, fields = { { name = "v", D = 1, noise = 1 } },
  integrate = { dt = 0.1, t_end = 50 }, output = { snapshots = "every 500 steps", checkpoint = "never" } }
LUA
  expect 0 "" "$SIM" run old.lua -o old.out
  for file in blocks/*.lua; do
    about=${file%.lua}.about
    if [ -f "$about" ]; then
      text=$(sed -n 's/^in: //p' "$about")
      [[ $text == *BLOCK* ]] || fail "no place for the block $file in: $text"
      printf '%s\n%s\n%s\n' "${text%%BLOCK*}" "$(<"$file")" "${text#*BLOCK}" >whole.lua
    else
      grep -q '^return sim\.' "$file" || fail "neither a scenario nor told what it is a part of (<!-- in: ... -->): $file"
      cp "$file" whole.lua
    fi
    expect 0 "no faults" "$SIM" check whole.lua
    code=0
    brief "$SIM" run whole.lua -o whole.out --threads 1 --force || code=$?
    [ "$code" = 0 ] || [ "$code" = 75 ] || fail "exit $code: a run of $file"
    ran=$((ran + 1))
  done
fi

# The scenario that the README tells the reader to save.
two=$(grep -l '^-- A small cluster falls into a large one' blocks/README_*.lua)
awk "$smaller"' match($0, /sim\.param\("n", [0-9]+/) {
    $0 = substr($0, 1, RSTART + 14) small(substr($0, RSTART + 15, RLENGTH - 15)) substr($0, RSTART + RLENGTH) }
  { print }' "$two" >two.lua

if [ "$kind" != python ]; then
  for file in blocks/README_*.sh blocks/[!R]*.sh; do
    if draws "$file"; then continue; fi
    if [ -f "${file%.sh}.about" ]; then continue; fi
    shell_block "$file"
    ran=$((ran + 1))
  done
  ((ran >= 15)) || fail "only $ran blocks found in the documents"
else
  . "$here/../tools/python.sh"
  modules=numpy,h5py,pandas,xarray,matplotlib,PIL,openpmd_viewer,tables
  python=$(python_with "$modules" -r "$ROOT/viz/requirements.txt" openpmd-viewer==1.11.0 tables==3.10.1) ||
    skip "no Python with $modules, and none could be installed (see $BUILD/python.log)"
  # PyVista and VTK are some hundred megabytes: only with `long`.
  [ "${2:-}" != long ] || python=$(python_with "$modules,pyvista" pyvista==0.49.1 vtk==9.7.2) || skip "no PyVista"
  export PYTHONPATH=$ROOT/viz MPLBACKEND=agg MPLCONFIGDIR=$scratch
  printf '#!/bin/sh\nexec "%s" -m simview "$@"\n' "$python" >bin/simview
  chmod +x bin/simview
  sed -i 's/snapshots = "every 0.25"/snapshots = "every 4"/' galaxy.lua # a film of fewer pictures
  expect 0 "" sim run galaxy.lua
  cp -r galaxy.out other.out
  expect 0 "" sim run two.lua
  expect 0 "" sim run scenarios/ladder.lua
  expect 0 "" sim run scenarios/scroll_ring.lua
  expect 0 "" sim sweep scenarios/gray_scott.lua --set F=0.03,0.04 --set k=0.06 -o gray_scott.sweep
  for file in blocks/*.python; do
    if grep -q 'import pyvista' "$file" && [ "${2:-}" != long ]; then continue; fi
    timeout -k 5 120 "$python" "$file" >output 2>&1 || fail "exit $?: the block $file: $(cat "$file")"
    ran=$((ran + 1))
  done
  for file in blocks/*.sh; do
    if ! draws "$file" || [ -f "${file%.sh}.about" ]; then continue; fi
    shell_block "$file"
    ran=$((ran + 1))
  done
  ((ran >= 6)) || fail "only $ran blocks found in the documents"
  exit
fi

# A parameter's description must say more than its name: otherwise "strike: missing: strike".
for model in $("$SIM" list | awk '{ print $1 }'); do
  "$SIM" describe "$model" | awk -v model="$model" '$1 == $2 && NF == 2 { print model ": " $1; bad = 1 } END { exit bad }' ||
    fail "a description repeats its name"
done

# Every exit code of the help is documented, and every documented code is in the help.
codes() { grep -oE '\b(6[4-9]|7[0-9]|8[0-9])\b' | sort -u; }
"$SIM" --help | sed -n '/^exit codes/,$p' | codes >help.codes
sed -n '/^## Exit codes/,$p' "$ROOT/docs/outputs.md" | codes >docs.codes
diff help.codes docs.codes || fail "exit codes of the help and of docs/outputs.md differ"
