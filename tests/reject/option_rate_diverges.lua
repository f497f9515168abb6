-- expect: 65 option_rate_diverges.lua:3: rate: its integrals over the steps are not found to 1e-10
return sim.option {
  assets = { { spot = 100, vol = 0.2 } }, maturity = 1, rate = function(t) return 0.01 / t end,
  payoffs = { sim.european { strike = 100 } },
}
