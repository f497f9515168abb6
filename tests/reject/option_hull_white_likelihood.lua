-- expect: 65 option_hull_white_likelihood.lua:6: greeks.method: expected "auto", "pathwise" or "bump" with hull_white
return sim.option {
  assets = { { spot = 100, vol = 0.2 } }, rate = 0.03, maturity = 1,
  hull_white = { reversion = 0.1, sigma = 0.01, correlation = { 0.3 } },
  payoffs = { sim.european { strike = 100 } },
  greeks = { delta = true, method = "likelihood" },
}
