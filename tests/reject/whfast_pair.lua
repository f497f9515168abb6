-- expect: 65 whfast_pair.lua:5: integrate.scheme: whfast moves bodies along Kepler orbits, which pair does not give: expected "ias15"
return sim.nbody {
  bodies    = { { mass = 1 }, { mass = 1e-3, position = {1, 0, 0}, velocity = {0, 1, 0} } },
  pair      = function(r2) return 0.5 * r2 end,
  integrate = { scheme = "whfast", dt = 0.1, t_end = 1 },
}
