-- expect: 65 option_hull_white_control.lua:6: sampling.control: expected "none" with hull_white
return sim.option {
  assets = { { spot = 100, vol = 0.2 } }, rate = 0.03, maturity = 1,
  hull_white = { reversion = 0.1, sigma = 0.01, correlation = { 0.3 } },
  payoffs = { sim.european { strike = 100 } },
  sampling = { paths = 2^10, control = "underlying" },
}
