# Sourced by the tests of models on ranks, after lib.sh: runs of `run` (with --force) on one rank and on several. `files`
# are those compared; `alone` and `by`: options of one rank and, before a number, of several.
# shellcheck shell=bash disable=SC2154
: "${COMPARE:?the program crash_compare}"
files=*.h5
alone=()
by=(--ranks)

equal() { # equal DIR DIR WHAT: digest and all files; `output` stays that of the last run
  local file
  same "$1" "$2" "$3"
  [ "$(cd "$1" && find . -name "$files" | sort)" = "$(cd "$2" && find . -name "$files" | sort)" ] || fail "$3: other files"
  while read -r file; do
    "$COMPARE" "$1/$file" "$2/$file" >compared 2>&1 || {
      mv compared output
      fail "$3: $file differs"
    }
  done < <(cd "$1" && find . -name "$files")
}
divided() { # divided RANKS SET...: a run of one rank, in ./one, and the same run on each of RANKS
  local ranks number=$1
  shift
  rm -rf one
  expect 0 "" "${run[@]}" "${alone[@]}" -o one "${@/#/--set=}"
  for ranks in $number; do
    rm -rf many
    expect 0 "" "${run[@]}" -o many "${by[@]}" "$ranks" "${@/#/--set=}"
    equal one many "$* with $ranks ranks"
  done
}
