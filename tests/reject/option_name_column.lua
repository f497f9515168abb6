-- expect: 65 option_name_column.lua:4: payoffs[1].name: expected another name: "time" is a column of every run
return sim.option {
  assets = { { spot = 100, vol = 0.2 } }, maturity = 1, steps = 12,
  payoffs = { sim.european { strike = 100, name = "time" } },
}
