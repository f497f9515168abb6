-- Multilevel Monte Carlo: a call in Heston's model whose error bar includes the bias of the time steps. Four steps and ever
-- finer ones are taken on the same random numbers; nearly all paths are of the four cheap steps, and few of the finest
-- ones tell what the steps shift. The characteristic function gives 9.98311.
return sim.option {
  title    = "Paths on each level of a multilevel run",
  assets   = { { spot = 100, heston = { v = 0.04, kappa = 2, theta = 0.06, sigma = 0.5, rho = -0.7 } } },
  rate     = 0.03,
  maturity = 1,
  steps    = 4,
  payoffs  = { sim.european { strike = 100 } },
  sampling = { multilevel = true, standard_error = sim.param("error", 0.01, "standard error, with the bias of the steps") },
}
