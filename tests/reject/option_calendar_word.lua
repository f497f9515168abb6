-- expect: 65 option_calendar_word.lua:3: undefined name 'calendar.year'
local c = sim.calendar { today = "2026-03-02" }
local t = c.year("2026-03-02")
return sim.option {
  assets = { { spot = 100, vol = 0.2 } }, maturity = 1, payoffs = { sim.european { strike = 100 } },
}
