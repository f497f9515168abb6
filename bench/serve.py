#!/usr/bin/env python3
"""Time of a call of `sim serve`: python3 bench/serve.py PATH/TO/sim [--device D]... [--threads T]... [--calls N] [--paths N]

Books of 8 payoffs with other parameters in each call, after warm calls: median, 95 % and 99 % of the time from the request to the
answer, by the clock. `script`: a call whose scenario is refused once its script has run, `refused`: once its device is chosen: their
share of a call. `mixed`: four books of other models, one after the other. `memory`: growth of the program's memory over the calls.
Needs nothing but Python.
"""

import argparse
import pathlib
import subprocess
import tempfile
import time

BOOK = """
local vol, kind = sim.param("vol", 0.2), sim.param("kind", "book")
local payoffs = {}
for i, strike in ipairs { 80, 90, 95, 100, 105, 110, 120, 130 } do payoffs[i] = sim.european { strike = strike } end
local asset, steps = { spot = 100, vol = vol }, 1
if kind == "asian" then
  payoffs, steps = { sim.asian { strike = 100 }, sim.european { strike = 90, type = "put" } }, 12
elseif kind == "heston" then
  asset = { spot = 100, heston = { v = vol * vol, kappa = 2, theta = 0.04, sigma = 0.3, rho = -0.7 } }
  steps = 8
elseif kind == "digital" then
  payoffs = { sim.digital { strike = 100 }, sim.european { strike = 100 } }
end
if kind == "script" then error("refused") end
if kind == "refused" then payoffs = { sim.european { strike = -1 } } end
return sim.option { assets = { asset }, rate = 0.05, maturity = 1, steps = steps, payoffs = payoffs,
                    sampling = { paths = PATHS } }
"""


class Server:
    """A process of `sim serve`."""

    def __init__(self, sim: str, options: list[str], scenario: str) -> None:
        self.scenario = scenario
        self.process = subprocess.Popen([sim, "serve", *options], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def ask(self, vol: float, kind: str = "book") -> tuple[float, str]:
        """Milliseconds of a call, and its answer."""
        assert self.process.stdin is not None and self.process.stdout is not None
        begin = time.perf_counter()
        self.process.stdin.write(f"{self.scenario}\tvol={vol!r}\tkind={kind}\n".encode())
        self.process.stdin.flush()
        answer = self.process.stdout.readline().decode()
        return 1e3 * (time.perf_counter() - begin), answer

    def resident(self) -> float:
        """MiB of the process in memory."""
        pages = int(pathlib.Path(f"/proc/{self.process.pid}/statm").read_text().split()[1])
        return pages * 4096 / 2**20

    def end(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()


def report(what: str, times: list[float]) -> None:
    times.sort()
    n = len(times)
    print(f"  {what:8s} median {times[n // 2]:7.3f}  95 % {times[n * 95 // 100]:7.3f}  99 % {times[n * 99 // 100]:7.3f} ms")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sim")
    parser.add_argument("--device", action="append")
    parser.add_argument("--threads", action="append", type=int)
    parser.add_argument("--calls", type=int, default=500)
    parser.add_argument("--paths", type=int, default=16384)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        scenario = pathlib.Path(folder, "book.lua")
        scenario.write_text(BOOK.replace("PATHS", str(options.paths)))
        for device in options.device or ["cpu"]:
            for threads in options.threads or [2]:
                server = Server(options.sim, [f"--device={device}", f"--threads={threads}"], str(scenario))
                first = server.ask(0.2)[0]
                kinds = ("book", "asian", "heston", "digital")
                for i in range(40):
                    server.ask(0.2 + 1e-4 * i, kinds[i % 4])
                before = server.resident()
                print(f"{device}, {threads} threads, {options.paths} paths: first call {first:.1f} ms")
                calls = range(options.calls)
                report("book", [server.ask(0.25 + 1e-5 * i)[0] for i in calls])
                report("mixed", [server.ask(0.25 + 1e-5 * i, kinds[i % 4])[0] for i in calls])
                report("script", [server.ask(0.25 + 1e-5 * i, "script")[0] for i in calls])
                report("refused", [server.ask(0.25 + 1e-5 * i, "refused")[0] for i in calls])
                print(f"  memory   {before:.1f} MiB before, {server.resident():.1f} after")
                server.end()


if __name__ == "__main__":
    main()
