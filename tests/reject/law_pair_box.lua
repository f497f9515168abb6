-- expect: 65 law_pair_box.lua:5: pair: in a periodic box bodies attract by gravity, by a law with a cutoff, or not at all (pair = 0)
return sim.nbody {
  bodies    = { { mass = 1 }, { mass = 1, position = {0.5, 0, 0} } },
  box       = { size = 1 },
  pair      = function(r2) return -1 / sim.sqrt(r2 + 0.01) end,
  integrate = { scheme = "leapfrog", dt = 1/64, t_end = 1 },
}
