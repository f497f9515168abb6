-- expect: 65 option_ladder_sabr.lua:5: ladder: spot +0, vol +0.2: steps = 1 are too long for SABR there: expected 2 or more
return sim.option {
  assets = { { spot = 100, sabr = { alpha = 4, beta = 0.5, rho = 0, nu = 0.3 } } }, maturity = 1, steps = 1,
  payoffs = { sim.european { strike = 100 } },
  ladder = { vol = { 0, 0.2 } },
}
