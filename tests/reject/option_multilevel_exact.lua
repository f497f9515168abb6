-- expect: 65 option_multilevel_exact.lua:5: sampling.multilevel: the steps of all assets are exact: expected false, a run without bias
return sim.option {
  assets = { { spot = 100, vol = 0.2 } }, maturity = 1,
  payoffs = { sim.european { strike = 100 } },
  sampling = { multilevel = true, standard_error = 0.01 },
}
