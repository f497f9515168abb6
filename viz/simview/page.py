"""The page of `simview watch` from Python; a notebook shows it below the cell."""

from __future__ import annotations

import html
import os
import subprocess
import sys
import weakref
from pathlib import Path
from typing import IO

from simview.errors import SimviewError, UsageError, file_of, whole_number
from simview.runs import open as open_run
from simview.sweeps import is_sweep

_HERE = str(Path(__file__).resolve().parents[1])


class Page:
    """A page on loopback that shows runs as `simview watch` does, by a process of the lowest priority.

    It ends with `close`, with the object, and with Python. In a notebook the object shows the page.

    Attributes
    ----------
    link
        What a browser on this machine opens, with a secret token in it.
    """

    def __init__(self, *paths: str | os.PathLike[str], height: int = 700, base: str | None = None) -> None:
        """Starts the page.

        Parameters
        ----------
        paths
            Folders of runs and sweeps.
        height
            Of the frame in a notebook, in pixels.
        base
            Where the browser is on another machine than Jupyter: the path of the Jupyter server as the browser sees it, such as
            ``"/"``; the page then goes through the server's extension jupyter-server-proxy. None: the variable
            JUPYTERHUB_SERVICE_PREFIX; where it is not set, no proxy.

        Raises
        ------
        NotFoundError
            There is no such run.
        """
        if not paths:
            raise UsageError("no run named")
        self.height = whole_number(height, "height", 100, 10000)
        self.base = os.environ.get("JUPYTERHUB_SERVICE_PREFIX") if base is None else base
        folders = [file_of(path).absolute() for path in paths]
        for folder in folders:
            if not is_sweep(folder):
                open_run(folder)
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join([_HERE, *filter(None, [os.environ.get("PYTHONPATH")])])}
        command = [sys.executable, "-m", "simview", "watch", "--until-eof", "--", *map(str, folders)]
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment,
                                   start_new_session=True)  # fmt: skip
        assert process.stdin is not None and process.stdout is not None and process.stderr is not None
        self.close = weakref.finalize(self, _end, process, process.stdin)
        self.link = process.stdout.readline().removeprefix("simview: ").strip()
        if not self.link:
            reason = process.stderr.read().strip()
            self.close()
            raise SimviewError(reason or "the page has ended before it began")

    def _repr_html_(self) -> str:
        source = self.link
        if self.base is not None:
            _, _, host, token, _ = self.link.split("/")
            source = f"{self.base.rstrip('/')}/proxy/{host.rpartition(':')[2]}/{token}/"
        return f'<iframe src="{html.escape(source)}" width="100%" height="{self.height}" style="border: 0"></iframe>'

    def __repr__(self) -> str:
        return f"<simview.Page {self.link}>"


def _end(process: subprocess.Popen[str], held: IO[str]) -> None:
    """Ends the page at once; the pipe that it reads would let an open page have its last picture first."""
    process.terminate()
    held.close()
    try:
        process.wait(5)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    for stream in (process.stdout, process.stderr):
        if stream is not None:
            stream.close()
