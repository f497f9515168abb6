-- expect: 65 option_pathwise_local.lua:5: payoff: greeks.method = "pathwise": with sabr or a local volatility
return sim.option {
  assets = { { spot = 100, local_vol = function(S) return 20 / S end } }, maturity = 1,
  steps = 4,
  payoff = function(path) return path.last[1] end,
  greeks = { delta = true, method = "pathwise" },
}
