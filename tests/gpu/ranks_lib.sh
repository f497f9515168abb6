# Sourced by the tests of ranks on GPUs (on one, which they share, where there is one): their scenarios and comparisons.
# shellcheck shell=bash
. "${BASH_SOURCE[0]%/*}/lib.sh"
need_gpu
set -m # jobs get their signals undisturbed
export OMP_WAIT_POLICY=passive
gpus=$("$SIM" info | grep -c '^cuda .* GiB free' || true)
paths=(peer staged)
((gpus < 2)) || paths+=(nccl) # which takes no GPU twice

cat >bodies.lua <<'LUA'
local n      = sim.param("n", 3000, "bodies")
local kind   = sim.param("kind", "mixed", "precision")
local scheme = sim.param("scheme", "leapfrog", "integrator")
local form   = sim.param("form", "gravity", "gravity, pair, external, box or adaptive")
local steps  = sim.param("steps", 12, "steps")
local every  = sim.param("every", 6, "steps between rows and checkpoints")
local s = {
  bodies    = { sim.plummer { n = n, mass = 1, radius = 1 } },
  gravity   = { G = 1, softening = 0.05, solver = "direct" },
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
end
return sim.nbody(s)
LUA
