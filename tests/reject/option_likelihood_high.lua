-- expect: 65 option_likelihood_high.lua:4: payoff: greeks.method = "likelihood": what happens within
return sim.option {
  assets = { { spot = 100, vol = 0.2 } }, maturity = 1,
  payoff = function(path) return path.high[1] end,
  greeks = { delta = true, method = "likelihood" },
}
