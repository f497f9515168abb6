-- expect: 65 option_bucket_name.lua:5: payoffs[2].name: expected another name: with that of payoffs[1] it is the name of a Greek by an asset or a node
return sim.option {
  assets = { { spot = 100, vol = sim.curve { {0, 0.2}, {1, 0.3} } } },
  maturity = 1,
  payoffs = { sim.european { strike = 100, name = "call" }, sim.european { strike = 110, name = "call_2" } },
  greeks = { vega_bucket = true },
}
