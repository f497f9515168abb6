-- expect: 65 option_american_upper_sabr.lua:4: payoffs[1]: upper_paths: the paths from a date on do not know SABR's f behind jumps or cash dividends
return sim.option {
  assets = { { spot = 100, sabr = { alpha = 2, beta = 0.5, rho = -0.4, nu = 0.5 }, jumps = { rate = 1, mean = -0.1, deviation = 0.1 } } }, maturity = 1, steps = 40,
  payoffs = { sim.american { strike = 100, type = "put", upper_paths = 100 } },
}
