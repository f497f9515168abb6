-- expect: 65 contact.contact_time: not possible with clumps
return sim.collision {
  box       = { size = {10, 10, 10}, boundary = "open" },
  grains    = { sim.clump { spheres = { {0, 0, 0, 0.5}, {1, 0, 0, 0.5} }, position = {5, 5, 5} } },
  contact   = { contact_time = 0.01 },
  integrate = { t_end = 0.1 },
}
