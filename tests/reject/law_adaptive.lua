-- expect: 65 law_adaptive.lua:5: integrate.dt: expected a number, got "adaptive": leapfrog has no length scale with a pair law; use hermite4
return sim.nbody {
  bodies    = { { mass = 1 }, { mass = 1, position = {1, 0, 0} } },
  pair      = function(r2) return 1 / r2 end,
  integrate = { dt = "adaptive", t_end = 1 },
}
