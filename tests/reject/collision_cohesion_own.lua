-- expect: 65 contact.cohesion: has no effect with law = "own"
return sim.collision {
  box       = { size = {10, 10, 10} },
  grains    = { { radius = 1, position = {5, 5, 5} } },
  contact   = { law = "own", force = function(overlap) return 1e6 * overlap end, stiffness = 1e6, cohesion = { model = "dmt", surface_energy = 1 } },
  integrate = { t_end = 1 },
}
