-- expect: 65 contact.pairs[2]: "wall" and "grain" already have constants in contact.pairs[1]
return sim.collision {
  box       = { size = {10, 10, 10}, boundary = "wall" },
  grains    = { { radius = 1, position = {5, 5, 5} } },
  contact   = { stiffness = 1e6,
                pairs = { { a = "grain", b = "wall", restitution = 0.9 }, { a = "wall", b = "grain", restitution = 0.5 } } },
  integrate = { t_end = 1 },
}
