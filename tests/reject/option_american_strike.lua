-- expect: 65 option_american_strike.lua:4: payoffs[1]: strike: missing: expected a number, or exercise = function(path) ... end
return sim.option {
  assets = { { spot = 100, vol = 0.2 } }, maturity = 1, steps = 4,
  payoffs = { sim.american { type = "put" } },
}
