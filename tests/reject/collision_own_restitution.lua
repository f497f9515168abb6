-- expect: 65 contact.pairs[1].restitution: acts on friction alone with law = "own"
return sim.collision {
  box       = { size = {10, 10, 10} },
  grains    = { { radius = 1, position = {5, 5, 5} } },
  contact   = { law = "own", force = function(overlap) return 1e6 * overlap end, stiffness = 1e6,
                pairs = { { a = "grain", b = "grain", restitution = 0.5 } } },
  integrate = { t_end = 1 },
}
