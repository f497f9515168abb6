-- expect: 65 option_scrambles_alone.lua:5: sampling.scrambles: is for Sobol's points alone
return sim.option {
  assets = { { spot = 100, vol = 0.2 } }, maturity = 1,
  payoffs = { sim.european { strike = 100 } },
  sampling = { scrambles = 32 },
}
