-- expect: 65 contact.cohesion.contact_angle: 
return sim.collision {
  box       = { size = {10, 10, 10} },
  grains    = { { radius = 1, position = {5, 5, 5} } },
  contact   = { stiffness = 1e6, friction = 0.5, cohesion = { model = "liquid_bridge", surface_tension = 1, volume = 1e-3, contact_angle = 2 } },
  integrate = { t_end = 1 },
}
