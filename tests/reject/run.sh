#!/usr/bin/env bash
# run.sh CASE: runs one case of this folder with the program $SIM, and compares with what its header expects.
#
# NAME.lua is a scenario. First line: "-- expect: CODE TEXT", the exit code and what standard error must say. Also in the
# header, where wanted: "-- args: ARGUMENT..." and "-- lines: N" (of standard error; one without).
# NAME.sh is a script with "# expect: CODE TEXT" that starts "$SIM" itself, in an empty folder. It ends with 125 where
# this machine cannot run it.
set -u
case=$(realpath -- "$1")
name=$(basename -- "$case")
header=$(grep -m1 -E '^(--|#) expect: [0-9]+ .' "$case") || { echo "$name: no line 'expect: CODE TEXT'" && exit 1; }
header=${header#*expect: }
code=${header%% *}
text=${header#* }

[ -x "$SIM" ] || { echo "$name: no program \$SIM: $SIM" && exit 1; }
scratch=$(mktemp -d)
trap 'chmod -R u+rwx "$scratch" && rm -rf "$scratch"' EXIT
mkdir "$scratch/work"
cd "$scratch/work" || exit 1
ulimit -c unlimited 2>/dev/null

TIMEFORMAT='%U %S'
if [[ $name == *.lua ]]; then
  cp "$case" .
  read -ra arguments <<<"$(sed -n 's/^-- args: //p' "$case" | head -1)"
  lines=$(sed -n 's/^-- lines: //p' "$case" | head -1)
  { time timeout 40 "$SIM" "$name" "${arguments[@]}" >../out 2>../err </dev/null; } 2>../time
  got=$?
else
  { time timeout 60 bash "$case" >../out 2>../err </dev/null; } 2>../time
  got=$?
  [ "$got" = 125 ] && cat ../err && exit 125
fi
processor=$(tail -1 ../time | awk '{print $1 + $2}')

failed=0
fault() {
  echo "$name: $*"
  failed=1
}
[ "$got" = "$code" ] || fault "exit code $got, expected $code"
grep -qaF -- "$text" ../err || fault "standard error does not say: $text"
[ -z "$(find . -name 'core*' -type f)" ] || fault "a core file"
if [[ $name == *.lua ]]; then
  count=$(wc -l <../err)
  [ "$count" = "${lines:-1}" ] || fault "$count lines on standard error, expected ${lines:-1}"
  # The script may take 1.5 s; its timer goes off at 1.85 s.
  awk -v t="$processor" 'BEGIN { exit t > 2 }' || fault "$processor s of processor time, at most 2"
  left=$(find . -mindepth 1 -maxdepth 1 ! -name "$name" -printf '%f ')
  [ "$code" = 0 ] || [ -z "$left" ] || fault "left behind: $left"
fi
LC_ALL=C grep -qaP '[\x00-\x08\x0b-\x1f\x7f]' ../err && fault "control characters on standard error"
[ "$failed" = 0 ] || { echo "--- standard error:" && head -c 2000 ../err; }
exit "$failed"
