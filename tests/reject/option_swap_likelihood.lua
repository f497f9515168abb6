-- expect: 65 option_swap_likelihood.lua:4: payoffs[1]: greeks.method = "likelihood": the first change of the price depends on the spot
return sim.option {
  assets = { { spot = 100, vol = 0.2 } }, maturity = 1, steps = 12,
  payoffs = { sim.variance_swap { strike = 20 } },
  greeks = { delta = true, method = "likelihood" },
}
