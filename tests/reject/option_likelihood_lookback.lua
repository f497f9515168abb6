-- expect: 65 option_likelihood_lookback.lua:4: payoffs[1]: greeks.method = "likelihood": what happens within the first step
return sim.option {
  assets = { { spot = 100, vol = 0.2 } }, maturity = 1,
  payoffs = { sim.lookback { monitoring = "continuous" } },
  greeks = { delta = true, method = "likelihood" },
}
