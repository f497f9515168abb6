# Sourced by the tests of the whole program. SIM names the binary; each test works in an empty folder of its own.
# shellcheck shell=bash
set -euo pipefail
: "${SIM:?the sim binary to test}"
SIM=$(readlink -f -- "$SIM")
unset OMP_NUM_THREADS
scratch=$(mktemp -d "${TMPDIR:-/tmp}/sim-test.XXXXXX")
mounted=
cleanup() {
  local job
  for job in $(jobs -p); do kill -KILL -- "$job" 2>/dev/null || true; done
  cd /
  [ -z "$mounted" ] || umount -l "$mounted" || true
  chmod -R u+rwX -- "$scratch" 2>/dev/null || true
  rm -rf -- "$scratch"
}
trap cleanup EXIT
cd -- "$scratch"

fail() {
  printf 'FAILED: %s\n' "$*" >&2
  [ ! -f output ] || { printf 'the output was:\n' && head -n 40 output; } >&2
  exit 1
}
skip() {
  printf 'skipped: %s\n' "$*"
  exit 77
}

# expect CODE TEXT COMMAND...: checks the exit code (or $also), and that TEXT is in the output (./output).
expect() {
  local code=$1 text=$2 got=0
  shift 2
  timeout -k 5 "${SIM_TEST_SECONDS:-120}" "$@" >output 2>&1 || got=$?
  [[ $got = "$code" || $got = "${also:-$code}" ]] || fail "exit $got, not $code: $*"
  grep -qF -- "$text" output || fail "no '$text' in the output of: $*"
}

# brief COMMAND...: a run that SIGTERM stops after 0.1 s of processor time, or more where it had not made a step by then.
# Returns its exit code.
brief() {
  local ticks code pid words until=$((SECONDS + 300))
  for ticks in 10 30 100 300 1000 3000; do # of 10 ms
    code=0
    "$@" >output 2>&1 </dev/null &
    pid=$!
    while read -r -a words 2>/dev/null <"/proc/$pid/stat" && [ "${words[2]}" != Z ] && ((words[13] + words[14] < ticks)); do
      ((SECONDS < until)) || fail "has not used $ticks ticks of processor time: $*"
      sleep 0.05
    done
    kill -s TERM "$pid" 2>/dev/null || true # may have ended
    wait "$pid" || code=$?
    if [ "$code" != 143 ] && ! grep -q "before the first step" output; then break; fi
  done
  return "$code"
}

# key NAME DIR: a value of status.json.
key() { sed -n 's/.*"'"$1"'"[[:space:]]*:[[:space:]]*"\{0,1\}\([^",}]*\).*/\1/p' "$2/status.json" | head -n 1; }
digest() { key digest "$1"; }
same() { # same DIR DIR WHAT
  local first second
  first=$(digest "$1") second=$(digest "$2")
  [[ $first =~ ^[0-9a-f]{32}$ ]] || fail "$3: no digest in $1"
  [ "$first" = "$second" ] || fail "$3: digest $second is not $first"
}
checkpoints() { { find "$1/ckpt" -name 'ck_*.h5' 2>/dev/null || true; } | sort; }

# until_true SECONDS COMMAND...: waits until the command succeeds. Two minutes are enough on a busy machine, and cost
# nothing when it succeeds.
until_true() {
  local tries=$(($1 * 50))
  shift
  until "$@"; do
    ((tries-- > 0)) || fail "waited in vain for: $*"
    sleep 0.02
  done
}

# A small cluster; parameters n, steps, every (of checkpoints), scheme, kind (of precision).
scenario() {
  cat >"$1" <<'LUA'
local n      = sim.param("n", 150, "bodies")
local steps  = sim.param("steps", 40, "steps")
local every  = sim.param("every", "every 10 steps", "cadence of checkpoints")
local scheme = sim.param("scheme", "leapfrog", "integrator")
local kind   = sim.param("kind", "double", "precision")
return sim.nbody {
  bodies    = { sim.plummer { n = n, mass = 1, radius = 1 } },
  gravity   = { G = 1, softening = 0.05 },
  integrate = { scheme = scheme, dt = 1/1024, t_end = steps/1024 },
  precision = kind,
  output    = { snapshots = "ends", tables = "every 10 steps", checkpoint = every },
}
LUA
}

# Two payoffs, one with early exercise; parameters paths, error (which ends the run), kind (local: a local volatility,
# whose bias by the time steps is estimated too), each (steps between rows and checkpoints).
option_scenario() {
  cat >"$1" <<'LUA'
local paths = sim.param("paths", 2^20 + 3000, "paths")
local error = sim.param("error", 0.0, "standard error that ends the run; 0: none")
local kind  = sim.param("kind", "plain", "local, sobol, matched or plain")
local each  = sim.param("each", 1, "steps between rows and checkpoints")
local asset = { spot = 100, vol = 0.2 }
if kind == "local" then asset = { spot = 100, local_vol = function(S, t) return 0.2 + 0.001 * sim.sqrt(S) end } end
local sampling = { paths = paths }
if error > 0 then sampling.standard_error = error end
if kind == "sobol" then sampling.sequence = "sobol" end
if kind == "matched" then sampling.moment_matching = true end
return sim.option {
  assets   = { asset }, rate = 0.05, maturity = 1, steps = 8,
  payoffs  = { sim.american { strike = 100, type = "put", fit_paths = 9000 }, sim.european { strike = 100 } },
  sampling = sampling,
  output   = { tables = "every " .. each .. " steps", checkpoint = "every " .. each .. " steps" },
}
LUA
}
