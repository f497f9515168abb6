#!/usr/bin/env bash
# run.sh CASE: runs one case of this folder with the program $SIM, and compares with what its header expects.
#
# NAME.lua is a scenario. First line: "-- expect: CODE TEXT", the exit code and what standard error must say. Also in the
# header, where wanted: "-- args: ARGUMENT..." and "-- lines: N" (of standard error; one without).
# NAME.sh is a script with "# expect: CODE TEXT" that starts "$SIM" itself, in an empty folder. It ends with 125 where
# this machine cannot run it.
#
# There are a thousand cases, and a process that the shell starts costs as much as half a case: so it starts few.
set -u
shopt -s nullglob dotglob globstar
case=$1
[[ $case == /* ]] || case=$PWD/$case
name=${case##*/}
[ -x "$SIM" ] || { echo "$name: no program \$SIM: $SIM" && exit 1; }
header='' arguments=() lines=1
while IFS= read -r line; do
  case $line in
    [!#-]*) break ;;
    '-- expect: '[0-9]* | '# expect: '[0-9]*) header=${header:-${line#*expect: }} ;;
    '-- args: '*) read -ra arguments <<<"${line#-- args: }" ;;
    '-- lines: '*) lines=${line#-- lines: } ;;
  esac
done <"$case"
code=${header%% *} text=${header#* }
[[ $code =~ ^[0-9]+$ && $header == *' '?* ]] || { echo "$name: no line 'expect: CODE TEXT'" && exit 1; }

scratch=${TMPDIR:-/tmp}/sim-reject.$$.$SRANDOM
mkdir -m 700 "$scratch" "$scratch/work" || exit 1
trap 'cd / && { rm -rf "$scratch" 2>/dev/null || { chmod -R u+rwx "$scratch" && rm -rf "$scratch"; }; }' EXIT
cd "$scratch/work" || exit 1
ulimit -c unlimited 2>/dev/null

TIMEFORMAT='%U %S'
if [[ $name == *.lua ]]; then
  cp "$case" .
  { time timeout 40 "$SIM" "$name" "${arguments[@]}" >../out 2>../err </dev/null; } 2>../time
  got=$?
else
  { time timeout 60 bash "$case" >../out 2>../err </dev/null; } 2>../time
  got=$?
  [ "$got" = 125 ] && cat ../err && exit 125
fi
read -r user system <<<"$(<../time)"
said=$(<../err) 2>/dev/null # without zeros, which are looked for below

failed=0
fault() {
  echo "$name: $*"
  failed=1
}
[ "$got" = "$code" ] || fault "exit code $got, expected $code"
[[ $said == *"$text"* ]] || fault "standard error does not say: $text"
cores=(**/core*)
[ ${#cores[@]} = 0 ] || fault "a core file"
if [[ $name == *.lua ]]; then
  mapfile -t found <../err
  [ ${#found[@]} = "$lines" ] || fault "${#found[@]} lines on standard error, expected $lines"
  # The script may take 1.5 s; its timer goes off at 1.85 s.
  ((10#${user/./} + 10#${system/./} <= 2000)) || fault "$user s and $system s of processor time, at most 2 s"
  left=(*)
  [ "$code" = 0 ] || [ "${left[*]}" = "$name" ] || fault "left behind: ${left[*]}"
fi
LC_ALL=C grep -qaP '[\x00-\x08\x0b-\x1f\x7f]' ../err && fault "control characters on standard error"
[ "$failed" = 0 ] || { echo "--- standard error:" && head -c 2000 ../err; }
exit "$failed"
