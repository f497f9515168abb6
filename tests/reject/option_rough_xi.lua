-- expect: 65 option_rough_xi.lua:3: assets[1].rough_bergomi.xi: expected a number > 0, got
return sim.option {
  assets = { { spot = 100, rough_bergomi = { xi = sim.curve { {0, 0.04}, {1, -0.04} }, eta = 1.9, hurst = 0.1, rho = -0.7 } } },
  maturity = 1, steps = 12, payoffs = { sim.european { strike = 100 } },
}
