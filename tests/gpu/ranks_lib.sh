# Sourced by the tests of ranks on GPUs: a scenario of bodies, runs of one GPU and of several ranks, and their comparison.
# shellcheck shell=bash
. "${BASH_SOURCE[0]%/*}/lib.sh"
: "${COMPARE:?the program crash_compare}"
need_gpu
set -m # jobs get their signals undisturbed
export OMP_WAIT_POLICY=passive

cat >bodies.lua <<'LUA'
local n      = sim.param("n", 3000, "bodies")
local kind   = sim.param("kind", "mixed", "precision")
local scheme = sim.param("scheme", "leapfrog", "integrator")
local form   = sim.param("form", "gravity", "gravity, pair, external, box, adaptive or individual")
local solver = sim.param("solver", "direct", "of forces")
local steps  = sim.param("steps", 12, "steps")
local every  = sim.param("every", 6, "steps between rows and checkpoints")
local s = {
  bodies    = { sim.plummer { n = n, mass = 1, radius = 1 } },
  gravity   = { G = 1, softening = 0.05, solver = solver },
  integrate = { scheme = scheme, dt = 1/1024, t_end = steps/1024 },
  precision = kind,
  output    = { snapshots = "ends", tables = "every " .. every .. " steps", checkpoint = "every " .. every .. " steps" },
}
if form == "pair" then
  s.gravity, s.pair = nil, function(r2) return -1/n * (r2 + 0.01)^-0.5 end
  s.bodies = { sim.uniform_sphere { n = n, mass = n, radius = 1 } }
elseif form == "external" then
  s.external = function(x, y, z, t) return 0.1 * (x^2 + y^2 + 2*z^2) * sim.cos(t) end
elseif form == "box" then
  s.bodies = { sim.uniform_sphere { n = n, mass = 1, radius = 1.5, position = {2, 2, 2} } }
  s.box = { size = 4, boundary = "periodic" }
elseif form == "adaptive" then
  s.integrate.dt, s.integrate.t_end = "adaptive", 0.1
elseif form == "individual" then
  s.integrate.steps, s.integrate.dt, s.integrate.eta = "individual", 1/64, 0.01
  s.integrate.t_end, s.gravity.softening = steps/64, 0.01
end
return sim.nbody(s)
LUA

equal() { # equal DIR DIR WHAT: digest, tables, snapshots, checkpoints
  local file pairs=("$1/tables.h5" "$2/tables.h5")
  same "$1" "$2" "$3"
  [ "$(files "$1")" = "$(files "$2")" ] || fail "$3: other files"
  for file in $(files "$1"); do pairs+=("$1/$file" "$2/$file"); done
  "$COMPARE" "${pairs[@]}" >output 2>&1 || fail "$3: the files differ"
}
files() { (cd -- "$1" && find . -name '*.h5' ! -name tables.h5 | sort); }

# several RANKS PATH OPTION...: the run that `one` has made, by ranks.
several() {
  local ranks=$1 path=$2
  shift 2
  SIM_COMM_PATH=$path expect 0 "" "$SIM" run "${run[@]}" -o many --force --gpus "$ranks" --oversubscribe "$@"
  grep -qF "$ranks ranks, each " output || fail "the header does not name $ranks ranks"
  equal one many "${run[*]} $* with $ranks ranks, $path"
}
one() { expect 0 "(GPU 0)" "$SIM" run "${run[@]}" -o one --force --device cuda; }
