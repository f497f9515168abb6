-- expect: 65 contact.cohesion.volume: expected a bond that reaches at most the smallest radius, 1, beyond the surfaces, got 2.1544
return sim.collision {
  box       = { size = {10, 10, 10} },
  grains    = { { radius = 1, position = {5, 5, 5} } },
  contact   = { stiffness = 1e6, friction = 0.5, cohesion = { model = "liquid_bridge", surface_tension = 1, volume = 10 } },
  integrate = { t_end = 1 },
}
