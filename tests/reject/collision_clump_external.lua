-- expect: 65 external: not possible with clumps
return sim.collision {
  box       = { size = {10, 10, 10}, boundary = "open" },
  grains    = { sim.clump { spheres = { {0, 0, 0, 0.5}, {1, 0, 0, 0.5} }, position = {5, 5, 5} } },
  contact   = { stiffness = 1000 },
  external  = function(x, y, z) return x end,
  integrate = { t_end = 0.1 },
}
