-- expect: 65 merge.when: expected "touch", "bound" or "slow"
return sim.collision {
  box       = { size = {10, 10, 10}, boundary = "open" },
  grains    = { { radius = 0.5, position = {3, 5, 5} }, { radius = 0.5, position = {7, 5, 5} } },
  merge     = {},
  contact   = { contact_time = 0.01 },
  integrate = { t_end = 0.1 },
}
