"""The page that shows runs: what the server answers, what it refuses, and what a browser shows."""

import http.client
import json
import os
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path
from urllib.parse import urlsplit

import pytest

import simview
from simview.watch import Watch, serve


@pytest.fixture
def served():
    """Serves folders: the link, and a function that asks for a path below it (or for any, with `whole`)."""
    servers = []

    def begin(*paths):
        server, link = serve(Watch(paths))
        servers.append(server)
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        parts = urlsplit(link)

        def ask(path, method="GET", whole=False):
            connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=60)
            connection.request(method, path if whole else parts.path + path)
            answer = connection.getresponse()
            found = answer.status, answer.read()
            connection.close()
            return found

        return link, ask

    yield begin
    for server in servers:
        server.shutdown()
        server.server_close()


def only(ask, number=0):
    code, body = ask("runs")
    assert code == 200
    return json.loads(body)[number]


def test_answers(clusters, served):
    link, ask = served(clusters)
    assert link.startswith("http://127.0.0.1:")
    assert b"watch.js" in ask("")[1] and ask("watch.js")[0] == ask("watch.css")[0] == 200
    run = only(ask)
    assert run["state"] == "done" and run["steps"] == [0, 4, 8, 12, 16] and run["times"][-1] == 0.25 and run["unit"] == " Myr"
    assert run["fraction"] == 1 and "energy" in run["panels"] and run["fault"] == ""
    first, last = (ask(f"picture?run=0&step={step}&of={run['of']}") for step in (0, 16))
    assert first[0] == last[0] == 200 and first[1][1:4] == b"PNG" and first[1] != last[1]
    assert ask("panel?run=0&name=energy")[1][1:4] == b"PNG"
    assert ask("log?run=0")[1] == (clusters / "run.log").read_bytes()
    assert ask("runs", "HEAD") == (200, b"")


def test_refuses(clusters, served):
    """No token, no answer; no path from outside; nothing can be changed."""
    link, ask = served(clusters)
    token = urlsplit(link).path.strip("/")
    for path in ("/", "/runs", "/watch.js", f"/{token}", f"/{token[:-1]}/runs", f"/x{token}/runs", "//runs", f"/?token={token}"):
        code, body = ask(path, whole=True)
        assert code == 403 and token.encode() not in body, path
    for path in ("status.json", "../status.json", "%2e%2e/%2e%2e/etc/passwd", "../../../../etc/passwd", "log?run=../0", "log?run=-1",
                 "log?run=1", "log", "picture?run=0&step=5", "panel?run=0&name=../x", "watch.py",
                 "picture?run=0&step=x", "picture?run=0"):  # fmt: skip
        assert ask(path)[0] == 404, path
    before = sorted((path, path.stat().st_mtime_ns) for path in clusters.rglob("*"))
    for method in ("POST", "PUT", "DELETE", "PATCH", "OPTIONS"):
        assert ask("runs", method)[0] == 501
    ask("picture?run=0&step=0"), ask("panel?run=0&name=energy")
    assert sorted((path, path.stat().st_mtime_ns) for path in clusters.rglob("*")) == before
    with pytest.raises(simview.NotFoundError):
        Watch([clusters / "snap"])


def test_goes_on_breaks_and_goes(clusters, served, tmp_path):
    """Snapshots come, a file is half written, the process is gone, and then the folder."""
    copy = tmp_path / "s.out"
    shutil.copytree(clusters, copy)
    later = (copy / "snap" / "snap_00000016.h5").rename(tmp_path / "later")
    _, ask = served(copy, clusters)
    assert only(ask)["steps"] == [0, 4, 8, 12] and only(ask, 1)["steps"][-1] == 16
    whole = later.read_bytes()
    new = copy / "snap" / "snap_00000016.h5"
    new.write_bytes(whole[: len(whole) // 2])
    run = only(ask)
    assert run["steps"][-1] == 16 and run["times"][-1] is None
    code, text = ask("picture?run=0&step=16&of=half")
    assert code == 503 and b"cut short or damaged" in text
    new.write_bytes(whole)
    assert ask("picture?run=0&step=16&of=whole")[0] == 200
    status = json.loads((copy / "status.json").read_text())
    gone = subprocess.Popen(["true"])
    gone.wait()
    for pid, state in ((os.getpid(), "running"), (gone.pid, "died")):
        (copy / "status.json").write_text(json.dumps({**status, "state": "running", "pid": pid, "time": 0.1}))
        run = only(ask)
        assert run["state"] == state and run["fraction"] == 0.4
    (copy / "status.json").write_text('{"state": "ru')
    assert "status.json" in only(ask)["fault"]
    shutil.rmtree(copy)
    assert only(ask)["state"] == "gone" and only(ask, 1)["state"] == "done"
    assert ask("picture?run=0&step=16")[0] == ask("log?run=0")[0] == 404


def test_planes(block, clusters, served):
    """A volume has planes across each axis, wherever the slider stands; other runs have none."""
    _, ask = served(block, clusters)
    run = only(ask)
    assert {axis: [round(at, 12) for at in ends] for axis, ends in run["axes"].items()} == {"x": [0.05, 1.15], "y": [0.05, 0.95], "z": [0.15, 1.95]}
    assert only(ask, 1)["axes"] == {}
    found = [ask(f"picture?run=0&step=5&of=a{more}") for more in ("", "&axis=z&share=0", "&axis=z&share=1000", "&axis=x&share=500")]
    assert all(code == 200 and data[1:4] == b"PNG" for code, data in found) and len({data for _, data in found}) == 4
    for wrong in ("run=0&step=5&axis=w", "run=0&step=5&axis=x&share=1001", "run=0&step=5&axis=x&share=-1", "run=1&step=0&axis=x"):
        assert ask(f"picture?{wrong}")[0] == 404


def test_ends_with_the_run(clusters, tmp_path):
    """The page of `sim run --watch` waits for the first files, and ends when its standard input does."""
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
    program = subprocess.Popen([sys.executable, "-m", "simview", "watch", "--until-eof", "--", tmp_path / "s.out"], env=environment,
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)  # fmt: skip
    time.sleep(1)
    assert program.poll() is None
    shutil.copytree(clusters, tmp_path / "s.out")
    line = program.stdout.readline()
    assert line.startswith("simview: http://127.0.0.1:")
    program.stdin.close()
    assert program.wait(240) == 0  # its process has the lowest priority
    program.stdout.close()
    nobody = subprocess.run([sys.executable, "-m", "simview", "watch", "--until-eof", tmp_path / "none.out"], env=environment, input="",
                            capture_output=True, text=True, timeout=240)  # fmt: skip
    assert (nobody.returncode, nobody.stdout, nobody.stderr) == (0, "", "")  # the run was over before anything was written


def test_sweep_side_by_side(sweep, served):
    _, ask = served(sweep)
    code, body = ask("runs")
    assert code == 200 and len(json.loads(body)) == 6


@pytest.mark.long
def test_browser(clusters, sweep, block, tmp_path):
    """A real browser: the slider shows another snapshot and its time, a volume has planes, and tables are there; the command
    ends by Ctrl-C."""
    webdriver = pytest.importorskip("selenium.webdriver", reason="no selenium")
    browser, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if not browser or not driver:
        pytest.skip("no chromium with chromedriver")
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
    command = [sys.executable, "-m", "simview", "watch", clusters, *sorted(sweep.glob("run_*"))[:1], block]
    program = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)
    options = webdriver.ChromeOptions()
    options.binary_location = browser
    for word in ("--headless=new", "--no-sandbox", "--disable-gpu", "--window-size=1300,1400", f"--user-data-dir={tmp_path}/profile"):
        options.add_argument(word)
    page = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
    try:
        page.get(program.stdout.readline().strip())

        def until(what, seconds=300):
            end = time.monotonic() + seconds
            while not (found := page.execute_script(f"return {what}")):
                assert time.monotonic() < end, what
                time.sleep(0.1)
            return found

        first = "document.querySelectorAll('.run')[0]"
        picture = f"{first}.querySelector('.picture')"
        until(f"{first} && {picture}.naturalWidth > 100")
        assert page.execute_script("return document.querySelectorAll('.run').length") == 3
        assert "two clusters" in until(f"{first}.querySelector('.title').textContent")
        assert page.execute_script(f"return {first}.querySelector('.state').textContent") == "done"
        assert page.execute_script(f"return {first}.querySelector('.time').textContent") == "t = 0.25 Myr"
        until(f"[...{first}.querySelectorAll('.panels img')].filter(i => i.naturalWidth > 100).length >= 3")
        page.save_screenshot(os.environ.get("SCREENSHOT", str(tmp_path / "page")) + "_last.png")
        before = page.execute_script(f"return {picture}.src")
        slider = page.find_elements("css selector", ".slider")[0]
        webdriver.ActionChains(page).move_to_element_with_offset(slider, 2 - slider.size["width"] // 2, 0).click().perform()
        until(f"{first}.querySelector('.time').textContent === 't = 0 Myr' && {picture}.src !== {json.dumps(before)}")
        assert not page.execute_script(f"return {first}.querySelector('.newest').checked")
        volume = "document.querySelectorAll('.run')[2]"
        planes = [page.execute_script(f"return document.querySelectorAll('.run')[{k}].querySelector('.planes').hidden") for k in range(3)]
        assert planes == [True, True, False]
        image = f"{volume}.querySelector('.picture')"
        until(f"{image}.naturalWidth > 100", 300)
        seen = [page.execute_script(f"return {image}.src")]
        menu = page.find_elements("css selector", ".axis")[2]
        menu.find_element("css selector", "option[value=z]").click()
        until(f"{volume}.querySelector('.place').textContent === 'z = 1.05' && {image}.src !== {json.dumps(seen[-1])}", 300)
        seen.append(page.execute_script(f"return {image}.src"))
        share = page.find_elements("css selector", ".share")[2]
        webdriver.ActionChains(page).move_to_element_with_offset(share, share.size["width"] // 2 - 2, 0).click().perform()
        until(f"{volume}.querySelector('.place').textContent === 'z = 1.95' && {image}.src !== {json.dumps(seen[-1])}", 300)
        page.execute_script(f"{volume}.scrollIntoView()")
        page.save_screenshot(os.environ.get("SCREENSHOT", str(tmp_path / "page")) + "_plane.png")
        page.find_elements("css selector", "summary")[0].click()
        until(f"{first}.querySelector('.log').textContent.includes('bodies')")
        page.save_screenshot(os.environ.get("SCREENSHOT", str(tmp_path / "page")) + "_first.png")
        assert [entry for entry in page.get_log("browser") if entry["level"] == "SEVERE"] == []
        program.send_signal(2)
        assert program.wait(240) == 130
        until("!document.getElementById('lost').hidden")
    finally:
        page.quit()
        program.kill()
        program.wait()
        program.stdout.close()
