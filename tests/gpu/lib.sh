# Sourced by the tests that run the whole program on a GPU. CUDA says whether this build has GPU code.
# shellcheck shell=bash
. "${BASH_SOURCE[0]%/*}/../cli/lib.sh"

# Skips where there is no GPU that this build can use.
need_gpu() {
  scenario probe.lua
  local code=0
  "$SIM" check probe.lua --device cuda >output 2>&1 || code=$?
  [ "$code" != 69 ] || skip "$(tail -n 1 output)"
  [ "$code" = 0 ] || fail "exit $code from sim check --device cuda"
}

# Two fields, of which one fluctuates and one is carried by its slope; parameters n, steps, scheme, kind (of precision).
# Without rates by the scheme exact.
diffusion_scenario() {
  cat >"$1" <<'LUA'
local n      = sim.param("n", 24, "cells an axis")
local steps  = sim.param("steps", 40, "steps")
local scheme = sim.param("scheme", "etdrk2", "scheme")
local kind   = sim.param("kind", "double", "precision")
local exact  = scheme == "exact"
return sim.diffusion {
  grid      = { n = {n, n + 3, 5}, size = {1, 2, 1}, z = "no_flux" },
  fields    = {
    { name = "u", D = 0.02, noise = 0.1, fluctuation = exact and 0 or 0.01 },
    { name = "v", D = 0.02, initial = function(x, y) return 0.1*math.cos(2*math.pi*x) end },
  },
  rates     = not exact and function(u, v, v_x, v_y) return u - u^3 - v, 0.1*u - v - v*v_x - 0.1*v_y end or nil,
  integrate = { scheme = scheme, dt = 1e-3, t_end = steps * 1e-3 },
  precision = kind,
  output    = { snapshots = "ends", tables = "every 10 steps", checkpoint = "every 10 steps" },
}
LUA
}

# A fluid around a ball that turns, or in 2-D a disc (rank), between walls; parameters n, steps, kind (of precision), and
# `with`: what the fluid has beside the ball or in its place. Writes wedge.stl, a closed surface, too.
fluid_scenario() {
  local facet
  printf 'solid wedge\n' >wedge.stl
  for facet in '0 0 0 0 4 0 4 0 0' '0 0 0 4 0 0 0 0 4' '0 0 0 0 0 4 0 4 0' '4 0 0 0 4 0 0 0 4'; do
    # shellcheck disable=SC2086
    printf 'facet normal 0 0 0\nouter loop\nvertex %s %s %s\nvertex %s %s %s\nvertex %s %s %s\nendloop\nendfacet\n' \
      $facet >>wedge.stl
  done
  printf 'endsolid wedge\n' >>wedge.stl
  cat >"$1" <<'LUA'
local n     = sim.param("n", 36, "cells along x")
local steps = sim.param("steps", 40, "steps")
local kind  = sim.param("kind", "double", "precision")
local rank  = sim.param("rank", 3, "axes")
local with  = sim.param("with", "none", "heat, flux, sponge, warm_sponge, motion, stl, grains, trt, timed or timed_trt")
local timed = with == "timed" or with == "timed_trt"
local m     = with == "grains" and 18 or 10
local function has(...) for _, name in ipairs({...}) do if name == with then return true end end return false end
local sponge, heat = has("sponge", "warm_sponge"), has("heat", "flux", "warm_sponge")
return sim.fluid {
  grid       = { n = rank == 3 and {n, m, m} or {n, m}, size = rank == 3 and {n, m, m} or {n, m}, y = "wall",
                 x = sponge and "wall" or "periodic" },
  sides      = timed and { y_high = { profile = rank == 3 and
                             function(x, t) return 0.03 * math.sin(t / 9) * math.cos(x), 0.01 * math.sin(t / 7), 0 end or
                             function(x, t) return 0.03 * math.sin(t / 9) * math.cos(x), 0.01 * math.sin(t / 7) end },
                           y_low = { pressure = function(t) return 1e-4 * math.sin(t / 8) end, straight = true } } or
               sponge and { x_low = { velocity = rank == 3 and {0.02, 0, 0} or {0.02, 0} },
                            x_high = { pressure = 0, sponge = 9 } } or nil,
  heat       = heat and { diffusivity = 0.03, y_low = with ~= "flux" and 1 or nil, y_high = 0, expansion = 1,
                          x_low = sponge and 0.5 or nil, reference = sponge and 0.5 or 0,
                          flux = with == "flux" and { y_low = 0.001 } or nil,
                          gravity = rank == 3 and {0, -1e-4, 0} or {0, -1e-4} } or nil,
  viscosity  = 0.02,
  speed      = 0.1,
  acceleration = rank == 3 and {1e-4, 0, 0} or {1e-4, 0},
  turbulence = rank == 3 and not has("grains", "trt", "timed_trt") and { smagorinsky = 0.1 } or nil,
  collision  = has("trt", "timed_trt") and "trt" or nil,
  average    = timed and { from = 3, every = 2 } or nil,
  gates      = timed and { { axis = "x", at = 7.3 } } or nil,
  bodies     = with == "stl" and { sim.stl { path = "wedge.stl", shift = {n / 2, m / 2 - 2, m / 2 - 2} } } or
               with ~= "grains" and
               { sim.ball { point = {n / 2, m / 2, rank == 3 and m / 2 or 0}, radius = 2.7, spin = 0.01,
                            velocity = with == "motion" and {0.05, 0, 0} or nil,
                            reference = timed and { area = 20, length = 5 } or nil,
                            flux = with == "flux" and 0.001 or nil } } or nil,
  grains     = with == "grains" and { { radius = 3, position = {9, 9, 9}, density = 2, velocity = {0.05, 0, 0} },
                                      { radius = 3.2, position = {16, 9.5, 9}, density = 3 } } or nil,
  gravity    = with == "grains" and {0, -1e-4, 0} or nil,
  contact    = with == "grains" and { contact_time = 5, restitution = 0.9 } or nil,
  initial    = rank == 3 and function(x, y) return 0.02 * math.sin(y), 0.01 * math.sin(x), 0 end
               or function(x, y) return 0.02 * math.sin(y), 0.01 * math.sin(x) end,
  probes     = { {3, 3, rank == 3 and 3 or 0} },
  integrate  = { dt = 0.5, t_end = steps * 0.5 },
  precision  = kind,
  output     = { snapshots = "ends", tables = "every 10 steps", checkpoint = "every 10 steps" },
}
LUA
}

# Grains; parameters law ("gas": whole numbers; "hertz": a hopper with friction, two materials and a floor that moves;
# "rain": a law of its own, a mesh, an inlet, an outlet, a gate, an external force), n, steps, every (of checkpoints),
# skin.
grains() {
  printf 'solid roof\n' >roof.stl
  for corner in '2 0 0.1' '-1 1 0.3'; do
    printf 'facet normal 0 0 0\nouter loop\nvertex -1 0 0.1\nvertex 2 1 0.3\nvertex %s\nendloop\nendfacet\n' "$corner"
  done >>roof.stl
  printf 'endsolid roof\n' >>roof.stl
  cat >"$1" <<'LUA'
local law   = sim.param("law", "gas", "gas, hertz or rain")
local n     = sim.param("n", 1500, "grains")
local steps = sim.param("steps", 40, "steps")
local every = sim.param("every", "every 10 steps", "cadence of checkpoints")
local skin  = sim.param("skin", 0.005, "of the hopper's lists")
local out   = { snapshots = "ends", tables = "every 10 steps", checkpoint = every }
local r     = (0.6 / (4 * math.pi * n))^(1/3)
if law == "gas" then
  return sim.collision {
    precision = "single",
    box       = { size = {1, 1, 1}, boundary = "periodic" },
    grains    = { sim.random_spheres { n = n, radius = r, density = 5 * n, temperature = 1 } },
    contact   = { law = "linear", stiffness = 4e6, restitution = 0.9 },
    integrate = { dt = 2e-5, t_end = steps * 2e-5 },
    output    = out,
  }
end
if law == "rain" then
  return sim.collision {
    precision = "single",
    box       = { size = {1, 1, 1}, boundary = "wall", x_low = "periodic", x_high = "periodic", z_low = "outlet" },
    grains    = { sim.random_spheres { n = n, radii = {0.7 * r, r}, density = 1000, low = {0, 0, 0.73} } },
    walls     = { sim.stl { path = "roof.stl", material = "steel" },
                  sim.cylinder { point = {0, 0.5, 0.6}, axis = {1, 0, 0}, radius = 0.1, outside = true,
                                 turning = function(t) return 20 * t end } },
    insert    = { sim.inlet { rate = 1e4, radius = 0.7 * r, low = {0, 0, 0.8}, high = {1, 1, 1}, velocity = {0, 0, -1},
                              species = "rain", density = 1000, limit = 2 * n } },
    remove    = { { low = {0, 0, 0}, high = {1, 0.2, 0.2} } },
    gates     = { { point = {0, 0, 0.4}, normal = {0, 0, -1} } },
    gravity   = {0, 0, -10},
    external  = function(x, y, z, t) return math.cos(2 * math.pi * x) * z end,
    contact   = { law = "own", stiffness = 2e4 * r * r, friction = 0.4, rolling_friction = 0.05,
                  force = function(overlap, rate, radius, mass)
                    return 2e6 * radius^0.5 * overlap^1.5 + 200 * mass * rate
                  end },
    integrate = { dt = 1e-4, t_end = steps * 1e-4 },
    output    = out,
  }
end
return sim.collision {
  precision = "single",
  box       = { size = {1, 1, 1}, boundary = "wall", x_low = "periodic", x_high = "periodic" },
  grains    = { sim.random_spheres { n = n / 2, radius = r, density = 1000, material = "glass", temperature = 0.1,
                                     low = {0, 0, 0.5} },
                sim.random_spheres { n = n / 2, radius = 0.6 * r, density = 2000, temperature = 0.1,
                                     low = {0, 0, 0.5} } },
  walls     = { sim.plane { point = {0.5, 0.5, 0.1}, normal = {0, 0, 1}, velocity = {0, 0, 0.1} },
                sim.cone { point = {0.5, 0.5, 0.2}, axis = {0, 0, 1}, length = 0.3, radius = 0.2, end_radius = 0.4 } },
  gravity   = {0, 0, -10},
  contact   = { law = "hertz", young = 1e7, poisson = 0.3, restitution = 0.7, friction = 0.5 },
  integrate = { dt = 1e-4, t_end = steps * 1e-4, skin = skin },
  output    = out,
}
LUA
}

# killed FILE OPTION...: killed once it has a checkpoint, the run of FILE on the GPU goes on to the same end.
killed() {
  local file=$1
  shift
  expect 0 "" "$SIM" run "$file" -o whole.out --device cuda "$@"
  "$SIM" run "$file" -o cut.out --device cuda "$@" >output 2>&1 &
  saved() { [ -n "$(checkpoints cut.out)" ]; }
  until_true 60 saved
  kill -KILL $! 2>/dev/null || true
  wait $! 2>/dev/null || true
  expect 0 "" "$SIM" resume cut.out
  same whole.out cut.out "killed and resumed"
}
