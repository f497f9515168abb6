-- expect: 65 contact.force gives nan for overlap = 5e-07
return sim.collision {
  box       = { size = {10, 10, 10} },
  grains    = { { radius = 1, position = {5, 5, 5} } },
  contact   = { law = "own", force = function(overlap) return math.sqrt(overlap - 1e-3) end, stiffness = 1e6 },
  integrate = { t_end = 1 },
}
