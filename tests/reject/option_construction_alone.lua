-- expect: 65 option_construction_alone.lua:5: sampling.construction: is for Sobol's points alone
return sim.option {
  assets = { { spot = 100, vol = 0.2 } }, maturity = 1,
  payoffs = { sim.european { strike = 100 } },
  sampling = { construction = "pca" },
}
