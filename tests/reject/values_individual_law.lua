-- expect: 65 values_individual_law.lua:5: integrate.steps: expected "shared", got "individual", which has no length scale with a pair law
return sim.nbody {
  bodies    = { sim.plummer { n = 16, mass = 1, radius = 1 } },
  pair      = function(r2) return -1 / math.sqrt(r2 + 0.01) end,
  integrate = { steps = "individual", dt = 1/64, t_end = 1 },
}
