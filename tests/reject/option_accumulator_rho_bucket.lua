-- expect: 65 option_accumulator_rho_bucket.lua:4: payoffs[1]
return sim.option {
  assets = { { spot = 100, vol = 0.2 } }, maturity = 1, steps = 4, rate = sim.curve { {0, 0.02}, {1, 0.03} },
  payoffs = { sim.accumulator { strike = 90 } }, greeks = { rho_bucket = true },
}
