-- A front that invades (Fisher, Kolmogorov): u_t = D u_xx + r u (1 - u). Its speed comes to 2 sqrt(D r) slowly, as
-- 2 - 3/(2t) (Bramson); the mass in table `fields` shows it.

return sim.diffusion {
  title     = "A front that invades",
  grid      = { n = {2048}, size = {200}, boundary = "no_flux" },
  fields    = { { name = "u", D = 1, initial = function(x) return sim.where(sim.lt(x, 10), 1, 0) end } },
  -- 0 is unstable: what rounding leaves below it must not grow
  rates     = function(u) local w = math.max(u, 0) return w * (1 - w) end,
  integrate = { scheme = "etdrk4", dt = 0.05, t_end = 40 },
  output    = { snapshots = "every 5", tables = "every 0.5" },
}
