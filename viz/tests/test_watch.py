"""The page that shows runs: what the server answers, what it refuses, and what a browser shows."""

import http.client
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import threading
import time
import urllib.request
from pathlib import Path
from urllib.parse import urljoin, urlsplit

import numpy as np
import pytest
import write

import simview
from simview.watch import Watch, _Watched, serve


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
            connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=600)
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
    assert run["about"] == "100 %, t = 0.25 of 0.25 Myr" and run["fraction"] == 1 and "energy" in run["panels"] and run["fault"] == ""
    first, last = (ask(f"picture?run=0&step={step}&of={run['of']}") for step in (0, 16))
    assert first[0] == last[0] == 200 and first[1][1:4] == b"PNG" and first[1] != last[1]
    assert ask("panel?run=0&name=energy")[1][1:4] == b"PNG"
    assert ask("log?run=0")[1] == (clusters / "run.log").read_bytes()
    assert ask("runs", "HEAD") == (200, b"")


def test_titles_and_panels(sweep, prices, clusters, served):
    """Runs of a sweep are told apart by their parameters; the most telling panels come first; options count paths, and have no
    table twice."""
    _, ask = served(sweep, prices, clusters)
    assert [only(ask, k)["title"] for k in (0, 5)] == ["spots, F = 0.03, k = 0.05 (run_0001)", "spots, F = 0.04, k = 0.07 (run_0006)"]
    option = only(ask, 6)
    assert option["panels"][0] == "estimates" and not {"prices", "errors", "deltas"} & set(option["panels"]), option["panels"]
    assert option["about"].endswith(" paths") and " of " in option["about"] and "t = " not in option["about"]
    width, height = struct.unpack(">2I", ask("panel?run=6&name=estimates")[1][16:24])
    assert height > 0.6 * width > 360  # room for all rows, unlike other panels
    assert only(ask, 9)["panels"][0] == "energy" and only(ask, 9)["panels"][-1] == "virial"


def test_refuses(clusters, served):
    """No token, no answer; no path from outside; nothing can be changed."""
    link, ask = served(clusters)
    token = urlsplit(link).path.strip("/")
    for path in ("/", "/runs", "/watch.js", f"/{token[:-1]}", f"/{token[:-1]}/runs", f"/x{token}/runs", "//runs", f"/?token={token}"):
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


def test_link_without_its_slash(clusters, served):
    """It leads to the page, by a relative address, which holds behind a proxy too."""
    link, _ = served(clusters)
    parts = urlsplit(link)
    connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=60)
    connection.request("GET", parts.path.rstrip("/"))
    answer = connection.getresponse()
    assert answer.status == 308 and urljoin(link.rstrip("/"), answer.headers["Location"]) == link
    connection.close()
    with urllib.request.urlopen(link.rstrip("/"), timeout=60) as page:
        assert b"watch.js" in page.read()


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
    assert run["steps"][-1] == 16 and run["times"][-1] is None and "energy" in run["panels"]
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


def test_another_run_in_the_folder(clusters, pair, served, tmp_path):
    """A run that replaces another one (`--force`) has its own title, panels and pictures, also of steps that both have."""
    folder = tmp_path / "s.out"
    shutil.copytree(clusters, folder)
    _, ask = served(folder)
    before = only(ask)
    first = ask(f"picture?run=0&step=0&of={before['of']}")
    shutil.rmtree(folder)
    shutil.copytree(pair, folder)
    after = only(ask)
    assert "two clusters" in before["title"] and "a pair" in after["title"] and after["unit"] == "" and after["of"] != before["of"]
    second = ask(f"picture?run=0&step=0&of={after['of']}")
    assert first[0] == second[0] == 200 and first[1] != second[1]


def test_sweep_grows(sweep, clusters, served, tmp_path):
    """Runs that a sweep begins later come last; a run keeps its number."""
    folder = tmp_path / "s.out"
    shutil.copytree(sweep, folder, ignore=shutil.ignore_patterns("run_000[3-6]"))
    _, ask = served(folder, clusters)
    titles = [run["title"] for run in json.loads(ask("runs")[1])]
    assert len(titles) == 3 and "two clusters" in titles[2]
    (folder / "run_0003").mkdir()
    begun = json.loads(ask("runs")[1])
    assert [run["title"] for run in begun[:3]] == titles and begun[3]["state"] == "begins" and len(begun) == 4
    shutil.copytree(sweep / "run_0003", folder / "run_0003", dirs_exist_ok=True)
    later = json.loads(ask("runs")[1])
    assert later[3]["title"] == "spots, F = 0.03, k = 0.07 (run_0003)" and later[3]["state"] == "done" and len(later) == 4
    assert ask("picture?run=3&step=0")[0] == 200


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


@pytest.fixture
def held(monkeypatch):
    """Pictures wait for this event."""
    event, picture = threading.Event(), _Watched.picture
    monkeypatch.setattr(_Watched, "picture", lambda *given: event.wait(120) and picture(*given))
    yield event
    event.set()


def test_busy(clusters, served, held):
    """State and log are answered while a picture is drawn, which takes long on a machine that is busy."""
    _, ask = served(clusters)
    answers = []
    drawing = threading.Thread(target=lambda: answers.append(ask("picture?run=0&step=16")[0]), daemon=True)
    drawing.start()
    time.sleep(0.1)
    assert ask("runs")[0] == 200 and ask("log?run=0")[0] in (200, 404) and drawing.is_alive() and not answers
    held.set()
    drawing.join(120)
    assert answers == [200]


@pytest.fixture
def ball(tmp_path):
    """A field of 16^3 cells that falls off from the middle."""
    (tmp_path / "ball.out" / "snap").mkdir(parents=True)
    axis = np.linspace(-1, 1, 16)
    file, group = write.begin(tmp_path / "ball.out" / "snap" / "snap_00000005.h5", 5, 0.5, meshes=True)
    with file:
        write.mesh(group, "u", np.exp(-(axis[:, None, None] ** 2) - axis[:, None] ** 2 - 3 * axis**2), (0.1, 0.1, 0.1))
    return tmp_path / "ball.out"


@pytest.mark.long
@pytest.mark.parametrize("more", [False, True])
def test_eye(ball, grains, clusters, served, more):
    """Pictures in space are turned and tilted, and seen from near; others stay as they are, and no other angles are taken."""
    _, ask = served(ball, grains, clusters)
    code, body = ask("runs")
    runs = json.loads(body)
    assert [run["space"] for run in runs] == [True, True, False]
    taken = ["", "&eye=30,20,0", "&eye=30,20,1", "&eye=-150,-90,0"] if more else ["", "&eye=30,20,1"]
    turned = []
    for number, eyes in enumerate((taken, ["", "&eye=30,20,1"] if more else ["&eye=30,20,1"])):
        step = runs[number]["steps"][-1]
        found = [ask(f"picture?run={number}&step={step}&of=a{eye}") for eye in eyes]
        assert all(code == 200 for code, _ in found) and len({data for _, data in found}) == len(eyes)
        if number == 0:
            turned = found
    volumes = [ask(f"picture?run=0&step=5&of=a&axis=volume{eye}") for eye in (["", "&eye=30,20,0"] if more else ["&eye=30,20,1"])]
    assert all(code == 200 for code, _ in volumes)
    assert len({data for _, data in volumes + turned}) == len(volumes + turned)
    assert ask(f"picture?run=1&step={runs[1]['steps'][-1]}&axis=volume")[0] == 404
    for wrong in ("30", "30,20", "30,20,2", "181,0,0", "0,91,0", "x,0,0", "1e1,0,0", "30,20,1,1"):
        assert ask(f"picture?run=0&step=5&eye={wrong}")[0] == 404, wrong


@pytest.mark.long
def test_sharp(clusters, served):
    """A page that zooms gets the same picture with twice as many pixels along a side."""
    _, ask = served(clusters)
    of = only(ask)["of"]
    sizes = [struct.unpack(">2I", ask(f"picture?run=0&step=16&of={of}{more}")[1][16:24]) for more in ("", "&sharp=1")]
    assert all(abs(large - 2 * small) <= 2 for small, large in zip(*sizes)), sizes


@pytest.mark.long
def test_page_in_a_notebook(clusters, tmp_path, monkeypatch):
    """A process of its own that answers below its link and ends when it is closed; behind a Jupyter server by the proxy's path."""
    with pytest.raises(simview.NotFoundError):
        simview.Page(tmp_path)
    monkeypatch.delenv("JUPYTERHUB_SERVICE_PREFIX", raising=False)
    page = simview.Page(clusters, height=500)
    parts = urlsplit(page.link)
    assert f'src="{page.link}"' in page._repr_html_() and 'height="500"' in page._repr_html_()
    connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=600)
    connection.request("GET", parts.path + "runs")
    assert json.loads(connection.getresponse().read())[0]["state"] == "done"
    connection.close()
    page.base = "/user/a/"
    assert f'src="/user/a/proxy/{parts.port}{parts.path}"' in page._repr_html_()
    page.close()
    with pytest.raises(OSError):
        http.client.HTTPConnection(parts.hostname, parts.port, timeout=10).request("GET", "/")


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


@pytest.mark.long
def test_stays_for_an_open_page(clusters, tmp_path):
    """A page that is open when the run ends gets the last picture and all panels, however slowly it asks; then, or where it
    asks no more, the server ends."""
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}

    def begin():
        program = subprocess.Popen([sys.executable, "-m", "simview", "watch", "--until-eof", "--", clusters], env=environment,
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)  # fmt: skip
        return program, program.stdout.readline().split()[1]

    def get(address):
        with urllib.request.urlopen(address, timeout=240) as answer:
            return answer.read()

    program, link = begin()
    get(link + "runs")
    program.stdin.close()  # the run ends before anything is drawn
    time.sleep(2)
    run = json.loads(get(link + "runs"))[0]
    for name in run["panels"]:
        assert get(f"{link}panel?run=0&name={name}&of={run['tables']}")[1:4] == b"PNG"
    time.sleep(3.5)  # the panels alone are not all
    assert get(f"{link}picture?run=0&step=16&of={run['of']}")[1:4] == b"PNG"
    get(link + "runs")
    assert program.wait(60) == 0
    program.stdout.close()
    program, link = begin()
    get(link + "runs")
    program.stdin.close()  # and the page is closed
    assert program.wait(60) == 0
    program.stdout.close()


def test_sweep_side_by_side(sweep, served):
    _, ask = served(sweep)
    code, body = ask("runs")
    assert code == 200 and len(json.loads(body)) == 6


def chromium(folder):
    """A browser without a window, or the test is skipped."""
    webdriver = pytest.importorskip("selenium.webdriver", reason="no selenium")
    browser, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if not browser or not driver:
        pytest.skip("no chromium with chromedriver")
    options = webdriver.ChromeOptions()
    options.binary_location = browser
    for word in ("--headless=new", "--no-sandbox", "--disable-gpu", "--window-size=1300,1400", f"--user-data-dir={folder}/profile"):
        options.add_argument(word)
    page = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
    page.set_script_timeout(120)
    return page


def waiter(page):
    """Waits until a line of JavaScript has a value that counts as true, and returns it."""

    def until(what, seconds=300):
        end = time.monotonic() + seconds
        while not (found := page.execute_script(f"return {what}")):
            assert time.monotonic() < end, what
            time.sleep(0.1)
        return found

    return until


@pytest.mark.long
def test_browser_turns(ball, clusters, tmp_path):
    """A surface is turned by its slider and seen from near; a run of points has no such sliders; a snapshot that comes is shown."""
    growing = tmp_path / "grows.out"
    shutil.copytree(clusters, growing)
    later = (growing / "snap" / "snap_00000016.h5").rename(tmp_path / "later")
    server, link = serve(Watch([ball, growing]))
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    page = chromium(tmp_path)
    try:
        page.get(link)
        until = waiter(page)
        run = "document.querySelectorAll('.run')[{}]"
        image = f"{run.format(0)}.querySelector('.picture')"
        until(f"{run.format(1)} && {image}.naturalWidth > 100")
        assert page.execute_script("return [0, 1].map(k => document.querySelectorAll('.run')[k].querySelector('.eyes').hidden)") == [False, True]
        seen = [page.execute_script(f"return {image}.src")]
        for name, value in (("azimuth", "30"), ("elevation", "-60")):
            part = f"{run.format(0)}.querySelector('.{name}')"
            page.execute_script(f"{part}.value = {value}; {part}.dispatchEvent(new Event('input'))")
            until(f"{image}.src !== {json.dumps(seen[-1])} && {image}.complete")
            seen.append(page.execute_script(f"return {image}.src"))
        page.find_elements("css selector", ".near")[0].click()
        until(f"{image}.src !== {json.dumps(seen[-1])} && {image}.complete")
        time.sleep(0.5)
        page.save_screenshot(os.environ.get("SCREENSHOT", str(tmp_path / "page")) + "_eye.png")
        time_of = f"{run.format(1)}.querySelector('.time').textContent"
        assert page.execute_script(f"return {time_of}") == "t = 0.1875 Myr"
        later.rename(growing / "snap" / "snap_00000016.h5")
        until(f"{time_of} === 't = 0.25 Myr'")
        assert [entry for entry in page.get_log("browser") if entry["level"] == "SEVERE"] == []
    finally:
        page.quit()
        server.shutdown()
        server.server_close()


@pytest.mark.long
def test_browser_busy(clusters, held, tmp_path):
    """A page of eight runs whose pictures are all under way still tells how the runs go on."""
    runs = [shutil.copytree(clusters, tmp_path / f"{i}.out") for i in range(8)]
    server, link = serve(Watch(runs))
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    page = chromium(tmp_path)
    try:
        page.get(link)
        until = waiter(page)
        until("document.querySelectorAll('.run .drawing:not([hidden])').length === 8")
        shutil.rmtree(runs[7])
        until("document.querySelectorAll('.run')[7].querySelector('.state').textContent === 'gone'", 30)
        assert page.execute_script("return document.querySelectorAll('.run')[0].querySelector('.picture').naturalWidth") == 0
        held.set()
        until("[...document.querySelectorAll('.run')].slice(0, 7).every(run => run.querySelector('.picture').naturalWidth > 100)")
    finally:
        page.quit()
        server.shutdown()
        server.server_close()


@pytest.mark.long
def test_browser_jupyter(clusters, tmp_path):
    """Below a Jupyter server, by jupyter-server-proxy: the page's relative addresses work there."""
    pytest.importorskip("jupyter_server_proxy", reason="no jupyter-server-proxy")
    command = [sys.executable, "-m", "jupyter_server", "--no-browser", "--allow-root", "--ServerApp.token=t", "--ServerApp.base_url=/user/a/",
               "--ServerApp.ip=127.0.0.1", "--ServerApp.port=0", f"--ServerApp.root_dir={tmp_path}"]  # fmt: skip
    command += ["--ServerApp.jpserver_extensions={'jupyter_server_proxy': True}"]
    environment = {**os.environ, "JUPYTER_RUNTIME_DIR": str(tmp_path / "runtime"), "JUPYTER_DATA_DIR": str(tmp_path / "data"),
                   "JUPYTER_CONFIG_DIR": str(tmp_path / "config")}  # fmt: skip
    jupyter = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    browser, page = chromium(tmp_path), None
    try:
        address = None
        for line in jupyter.stdout:
            if "http://127.0.0.1:" in line:
                address = line[line.index("http://127.0.0.1:") :].split("/user")[0]
                break
        assert address
        page = simview.Page(clusters, base="/user/a/")
        browser.get(f"{address}/user/a/login?token=t")
        frame = page._repr_html_()
        inside = frame.split('src="')[1].split('"')[0]
        assert inside.startswith("/user/a/proxy/")
        browser.get(f"{address}{inside}")  # the server's own pages forbid frames from a script
        until = waiter(browser)
        until("document.querySelector('.run .picture') && document.querySelector('.run .picture').naturalWidth > 100")
        assert "two clusters" in until("document.querySelector('.title').textContent")
        assert browser.execute_script("return location.pathname") == inside
        browser.save_screenshot(os.environ.get("SCREENSHOT", str(tmp_path / "page")) + "_jupyter.png")
    finally:
        browser.quit()
        if page is not None:
            page.close()
        jupyter.terminate()
        jupyter.wait(60)
        jupyter.stdout.close()


def look_into(page, until, which):
    """Chooses the volume of the last run on the page, and turns it."""
    last = f"[...document.querySelectorAll('{which}')].at(-1)"
    image = f"{last}.querySelector('.picture')"
    until(f"{image}.naturalWidth > 100", 300)
    page.execute_script(f"{last}.scrollIntoView()")
    for part in (".axis option[value=volume]", ".azimuth"):
        before = page.execute_script(f"return {image}.src")
        found = page.find_elements("css selector", f"{which} {part}")[-1]
        found.click()
        until(f"{image}.src !== {json.dumps(before)}", 300)
        assert not page.execute_script(f"return {last}.querySelector('.eyes').hidden")
        assert page.execute_script(f"return {last}.querySelector('.share').hidden")


@pytest.mark.long
def test_browser(clusters, sweep, block, ball, tmp_path):
    """A real browser: the slider shows another snapshot and its time, a volume has planes, and tables are there; the command
    ends by Ctrl-C."""
    page = chromium(tmp_path)
    from selenium import webdriver

    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
    command = [sys.executable, "-m", "simview", "watch", clusters, *sorted(sweep.glob("run_*"))[:1], block, ball]
    program = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)
    until = waiter(page)
    try:
        page.get(program.stdout.readline().strip())
        first = "document.querySelectorAll('.run')[0]"
        picture = f"{first}.querySelector('.picture')"
        until(f"{first} && {picture}.naturalWidth > 100")
        assert page.execute_script("return document.querySelectorAll('.run').length") == 4
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
        planes = [page.execute_script(f"return document.querySelectorAll('.run')[{k}].querySelector('.planes').hidden") for k in range(4)]
        assert planes == [True, True, False, False]
        image = f"{volume}.querySelector('.picture')"
        until(f"{image}.naturalWidth > 100", 300)
        seen = [page.execute_script(f"return {image}.src")]
        menu = page.find_elements("css selector", ".axis")[2]
        offered = "return [...document.querySelectorAll('.run')].slice(2).map(r => [...r.querySelectorAll('.axis option')].slice(0, 2)" \
            ".filter(o => !o.hidden).map(o => o.text))"  # fmt: skip
        assert page.execute_script(offered) == [["plane"], ["surface or lines, and plane", "volume and plane"]]  # 7 cells along z have no surface
        menu.find_element("css selector", "option[value=z]").click()
        until(f"{volume}.querySelector('.place').textContent === 'z = 1.05' && {image}.src !== {json.dumps(seen[-1])}", 300)
        seen.append(page.execute_script(f"return {image}.src"))
        share = page.find_elements("css selector", ".share")[2]
        webdriver.ActionChains(page).move_to_element_with_offset(share, share.size["width"] // 2 - 2, 0).click().perform()
        until(f"{volume}.querySelector('.place').textContent === 'z = 1.95' && {image}.src !== {json.dumps(seen[-1])}", 300)
        page.execute_script(f"{volume}.scrollIntoView()")
        page.save_screenshot(os.environ.get("SCREENSHOT", str(tmp_path / "page")) + "_plane.png")
        look_into(page, until, ".run")
        page.save_screenshot(os.environ.get("SCREENSHOT", str(tmp_path / "page")) + "_volume.png")
        page.find_elements("css selector", "summary")[0].click()
        until(f"{first}.querySelector('.log').textContent.includes('bodies')")
        page.save_screenshot(os.environ.get("SCREENSHOT", str(tmp_path / "page")) + "_first.png")
        assert [entry for entry in page.get_log("browser") if entry["level"] == "SEVERE"] == []
        page.execute_script("scrollTo(0, 0)")
        style = f"{picture}.style.transform"
        frame = page.find_elements("css selector", ".frame")[0]
        before = page.execute_script(f"return {picture}.src")
        frame.find_elements("css selector", "button")[0].click()
        until(f"{style}.includes('scale(1.5)') && {picture}.src !== {json.dumps(before)} && {picture}.naturalWidth > 1200")
        middle = page.execute_script(f"return {style}")
        webdriver.ActionChains(page).drag_and_drop_by_offset(frame, 60, 40).perform()
        until(f"{style} !== {json.dumps(middle)}")
        dragged = [float(part) for part in re.findall(r"-?[0-9.]+(?=px)", page.execute_script(f"return {style}"))]
        at = [float(part) for part in re.findall(r"-?[0-9.]+(?=px)", middle)]
        assert abs(dragged[0] - at[0] - 60) <= 1 and abs(dragged[1] - at[1] - 40) <= 1
        page.save_screenshot(os.environ.get("SCREENSHOT", str(tmp_path / "page")) + "_zoom.png")
        frame.send_keys("+", webdriver.Keys.ARROW_RIGHT)
        until(f"{style}.includes('scale(2.25)')")
        frame.send_keys("0")
        until(f"{style} === ''")
        assert [entry for entry in page.get_log("browser") if entry["level"] == "SEVERE"] == []
        program.send_signal(2)
        assert program.wait(240) == 130
        until("!document.getElementById('lost').hidden")
    finally:
        page.quit()
        program.kill()
        program.wait()
        program.stdout.close()
