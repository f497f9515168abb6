# Sourced by the cases of --at: a scenario (s.lua) with one function, of x and y.
# shellcheck shell=bash
cat >s.lua <<'LUA'
return sim.nbody {
  external  = function(x, y) return 0.5*x^2 + y end,
  bodies    = { sim.plummer { n = 10, mass = 1, radius = 1 } },
  integrate = { dt = 1/64, t_end = 1 },
}
LUA
