#!/usr/bin/env bash
# run.sh CASE...: runs cases of this folder with the program $SIM, and compares with what their headers expect.
#
# NAME.lua is a scenario. First line: "-- expect: CODE TEXT", the exit code and what standard error must say. Also in
# the header, where wanted: "-- args: ARGUMENT..." and "-- lines: N" (of standard error; one without). Scenarios of one
# call are in one folder, in which a run that fails must leave nothing.
# NAME.sh is a script with "# expect: CODE TEXT" that starts "$SIM" itself, in an empty folder. It ends with 125 where
# this machine cannot run it, and so does run.sh where none of its cases can.
#
# There are a thousand cases, and a process that the shell starts costs as much as half a case: so it starts few.
set -u
shopt -s nullglob dotglob globstar
here=$PWD
[ -x "$SIM" ] || { echo "no program \$SIM: $SIM" && exit 1; }
scratch=${TMPDIR:-/tmp}/sim-reject.$$.$SRANDOM
mkdir -m 700 "$scratch" "$scratch/said" || exit 1
trap 'cd / && { rm -rf "$scratch" 2>/dev/null || { chmod -R u+rwx "$scratch" && rm -rf "$scratch"; }; }' EXIT
ulimit -c unlimited 2>/dev/null
TIMEFORMAT='%U %S'

cases=() scenarios=()
for case in "$@"; do
  [[ $case == /* ]] || case=$here/$case
  cases+=("$case")
  [[ $case != *.lua ]] || scenarios+=("$case")
done
# An empty folder with the scenarios of this call.
renew() {
  rm -rf "$scratch/work" && mkdir "$scratch/work" && cd "$scratch/work" || exit 1
  [ ${#scenarios[@]} = 0 ] || cp "${scenarios[@]}" . || exit 1
  copied=(*)
}
fault() {
  echo "$name: $*"
  failed=1
}
# run CASE: 0: as expected, 1: not, 125: cannot run here.
run() {
  local case=$1 name=${1##*/} header='' arguments=() lines=1 line code text got user system said failed=0 cores found left
  while IFS= read -r line; do
    case $line in
      [!#-]*) break ;;
      '-- expect: '[0-9]* | '# expect: '[0-9]*) header=${header:-${line#*expect: }} ;;
      '-- args: '*) read -ra arguments <<<"${line#-- args: }" ;;
      '-- lines: '*) lines=${line#-- lines: } ;;
    esac
  done <"$case"
  code=${header%% *} text=${header#* }
  [[ $code =~ ^[0-9]+$ && $header == *' '?* ]] || { echo "$name: no line 'expect: CODE TEXT'" && return 1; }

  local err=$scratch/said/$name
  if [[ $name == *.lua ]]; then
    { time timeout 400 "$SIM" "$name" "${arguments[@]}" >../out 2>"$err" </dev/null; } 2>../time
    got=$?
  else
    mkdir "$scratch/$name" && cd "$scratch/$name" || exit 1
    { time timeout 400 bash "$case" >../out 2>"$err" </dev/null; } 2>../time
    got=$?
    [ "$got" = 125 ] && echo "$name: cannot run here: $(<"$err")" && return 125
  fi
  read -r user system <<<"$(<../time)"
  said=$(<"$err") 2>/dev/null # without zeros, which are looked for below

  [ "$got" = "$code" ] || fault "exit code $got, expected $code"
  [[ $said == *"$text"* ]] || fault "standard error does not say: $text"
  cores=(**/core*)
  [ ${#cores[@]} = 0 ] || fault "a core file"
  if [[ $name == *.lua ]]; then
    mapfile -t found <"$err"
    while [[ ${#found[@]} -gt 0 && ${found[0]} == 'sim: starting: '* ]]; do found=("${found[@]:1}"); done # a busy machine
    [ ${#found[@]} = "$lines" ] || fault "${#found[@]} lines on standard error, expected $lines"
    # The script may take 1.5 s; its timer goes off at 1.85 s.
    ((10#${user/./} + 10#${system/./} <= 2000)) || fault "$user s and $system s of processor time, at most 2 s"
    left=(*)
    if [ "${left[*]}" != "${copied[*]}" ]; then
      [ "$code" = 0 ] || fault "left behind: $(printf '%s\n' "${left[@]}" | grep -vxF "$(printf '%s\n' "${copied[@]}")")"
      renew
    fi
  fi
  [ "$failed" = 0 ] || { echo "--- standard error:" && head -c 2000 "$err"; }
  return "$failed"
}

renew
wrong=0 done=0
for case in "${cases[@]}"; do
  run "$case"
  got=$?
  cd "$scratch/work" || exit 1
  [ "$got" = 125 ] || done=1
  [ "$got" = 0 ] || [ "$got" = 125 ] || wrong=1
done
cd "$scratch/said" || exit 1
LC_ALL=C grep -laP '[\x00-\x08\x0b-\x1f\x7f]' -- * && echo "control characters on the standard error of these" && wrong=1
[ "$wrong" = 0 ] || exit 1
[ "$done" = 1 ] || exit 125
