-- A front that invades (Fisher, Kolmogorov): u_t = D u_xx + r u (1 - u). Its speed comes to 2 sqrt(D r) slowly, as
-- 2 - 3/(2t) (Bramson): `speed` in the table `observe`, by which the mass behind the front grows. The start is smooth,
-- since a jump rings, and what rings ahead of the front grows as exp(t), as rounding does: hence the end at t = 20,
-- and double precision: in single the rounding of about 1e-7 grows below zero, where nothing holds it, and the run ends
-- with 80.

return sim.diffusion {
  title     = "A front that invades",
  grid      = { n = {1024}, size = {100}, boundary = "no_flux" },
  fields    = { { name = "u", D = 1, initial = function(x) return 0.5 * sim.erfc(x - 10) end } },
  rates     = function(u) return u * (1 - u) end,
  integrate = { scheme = "etdrk4", dt = 0.05, t_end = 20 },
  observe   = { speed = function(u) return u * (1 - u) end },   -- its integral over x
  output    = { snapshots = "every 5", tables = "every 0.5" },
}
