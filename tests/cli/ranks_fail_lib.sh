# Sourced by tests of ranks that fail: processes of ranks, and how a run in the background ends. `begin` is when it was
# told to.
# shellcheck shell=bash disable=SC2154
rank_of() { # rank_of LAUNCHER N: process of rank N, if it has been started; ranks are started in order
  # shellcheck disable=SC2009 # by parent
  { ps -o pid= --ppid "$1" || true; } | sort -n | sed -n "$(($2 + 1))p" | tr -d ' '
}
no_lock() { # no_lock DIR WHAT
  [ ! -e "$1/.lock" ] || grep -q ", ended " "$1/.lock" || fail "$2: a lock is left: $(cat "$1/.lock")"
}
seconds() { date +%s.%N; }
within() { # within SECONDS BEGIN WHAT
  awk -v most="$1" -v from="$2" -v to="$(seconds)" 'BEGIN { exit !(to - from <= most) }' || fail "$3: took longer than $1 s"
}
has_checkpoint() { [ -n "$(checkpoints "$1")" ]; }
ended() { # ended CODE SECONDS DIR WHAT: of process $pid
  local code=0
  wait "$pid" || code=$?
  [ "$code" = "$1" ] || fail "$4: exit $code, not $1"
  within "$2" "$begin" "$4"
  no_lock "$3" "$4"
}
