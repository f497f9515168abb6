-- expect: 65 precision: expected "mixed" or "double", got "single"
return sim.option {
  precision = "single",
  assets    = { { spot = 100, vol = 0.2 } },
  maturity  = 1,
  payoffs   = { sim.european { strike = 100 } },
}
