-- expect: 65 option_cross_gamma_alone.lua:6: greeks.cross_gamma: expected two assets or more, got one
return sim.option {
  assets = { { spot = 100, vol = 0.2 } },
  maturity = 1,
  payoffs = { sim.european { strike = 100 } },
  greeks = { cross_gamma = true },
}
