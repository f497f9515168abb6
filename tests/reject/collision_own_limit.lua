-- expect: 65 contact.limit_damping: has no effect with law = "own"
return sim.collision {
  box       = { size = {1, 1, 1}, boundary = "periodic" },
  grains    = { { radius = 0.05, density = 1, position = {0.5, 0.5, 0.5} } },
  contact   = { law = "own", stiffness = 100, force = function(overlap) return 100 * overlap end, limit_damping = true },
  integrate = { dt = "auto", t_end = 0.1 },
}
