-- expect: 65 option_exposure_function.lua:5: exposure: expected named payoffs alone: what a function has seen of its path is not known at a date
return sim.option {
  assets = { { spot = 100, vol = 0.2 } }, maturity = 1,
  payoff = function(path) return sim.max(path.last[1] - 100, 0) end,
  exposure = { dates = { 0.5 } },
}
