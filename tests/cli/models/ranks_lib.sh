# Sourced by the tests of models on ranks, after lib.sh: runs of `run` (with --force) on one rank and on several. `files`
# are those compared; `alone` and `by`: options of one rank and, before a number, of several.
# shellcheck shell=bash disable=SC2154
: "${COMPARE:?the program crash_compare}"
files=*.h5
alone=()
by=(--ranks)

equal() { # equal DIR DIR WHAT: digest and all files; `output` stays that of the last run
  local file pairs=()
  same "$1" "$2" "$3"
  [ "$(cd "$1" && find . -name "$files" | sort)" = "$(cd "$2" && find . -name "$files" | sort)" ] || fail "$3: other files"
  while read -r file; do pairs+=("$1/$file" "$2/$file"); done < <(cd "$1" && find . -name "$files")
  "$COMPARE" "${pairs[@]}" >compared 2>&1 || {
    mv compared output
    fail "$3: the files differ"
  }
}
# divided RANKS SET...: a run of one rank, in ./one, and the same run on each of RANKS. The run of one rank is made once
# for calls that follow each other with the same `run` and SET.
lone=
divided() {
  local ranks number=$1 all
  shift
  all="${run[*]} $*"
  if [ "$all" != "$lone" ]; then
    rm -rf one
    expect 0 "" "${run[@]}" "${alone[@]}" -o one "${@/#/--set=}"
    lone=$all
  fi
  for ranks in $number; do
    rm -rf many
    expect 0 "" "${run[@]}" -o many "${by[@]}" "$ranks" "${@/#/--set=}"
    equal one many "$* with $ranks ranks"
  done
}
# The same as on two hosts, without memory in common.
hosts() { SIM_COMM_HOSTS=2 divided "$@"; }
# A run of one rank, and one that 2 ranks begin and 1 and then 3 go on with.
restarted() { # restarted SET...: from 2 ranks to 1 and to 3
  local ranks
  expect 0 "" "${run[@]}" "${alone[@]}" -o whole "${@/#/--set=}"
  expect 0 "" "${run[@]}" -o chain "${by[@]}" 2 "${@/#/--set=}"
  equal whole chain "$*"
  for ranks in 1 3; do
    rm -- "$(checkpoints chain | tail -n 1)"
    expect 0 "continues from checkpoint" "$SIM" resume chain "${by[@]}" $ranks
    equal whole chain "$*: 2 ranks, then $ranks"
  done
}
