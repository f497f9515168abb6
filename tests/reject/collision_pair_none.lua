-- expect: 65 contact.pairs[1].cohesion.model: expected one of "contact", "dmt", "jkr", "square_well", "liquid_bridge", got the string "none"
return sim.collision {
  box       = { size = {10, 10, 10} },
  grains    = { { radius = 1, position = {5, 5, 5} } },
  contact   = { law = "hertz", young = 1e6, cohesion = { model = "jkr", surface_energy = 1 },
                pairs = { { a = "grain", b = "grain", cohesion = { model = "none" } } } },
  integrate = { t_end = 1 },
}
