-- expect: 65 option_likelihood_certain.lua:5: greeks.method: the first step's volatility is 0
return sim.option {
  assets = { { spot = 100, vol = 0 } }, maturity = 1,
  payoffs = { sim.european { strike = 100 } },
  greeks = { delta = true, method = "likelihood" },
}
