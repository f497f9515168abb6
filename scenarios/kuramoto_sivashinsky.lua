-- Chaos on a line (Kuramoto and Sivashinsky): u_t = -u_xx - u_xxxx - u u_x. Long waves grow, short ones are damped, and
-- the product moves energy from the ones to the others: cells that merge and split for ever. After Kassam and Trefethen
-- (SIAM J. Sci. Comput. 26, 2005). Neighbouring solutions part as exp(t/11) or so: after t = 300, another processor's
-- rounding shows.

return sim.diffusion {
  title     = "Chaos on a line",
  grid      = { n = {512}, size = {32 * math.pi} },
  fields    = {
    { name = "u", linear = function(k2) return k2 - k2^2 end,
      initial = function(x) return math.cos(x / 16) * (1 + math.sin(x / 16)) end },
  },
  rates     = function(u, u_x) return -u * u_x end,
  integrate = { scheme = "etdrk4", dt = 0.1, t_end = 150 },
  output    = { snapshots = "every 1", tables = "every 0.5" },
}
