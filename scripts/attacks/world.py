"""The agent under attack, the servers that it asks, and measurements."""
import contextlib
import http.client
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
BINARIES = pathlib.Path(os.environ.get("STARWATCH_BIN_DIR", ROOT / ".build/debug"))
STARWATCH = str(BINARIES / "starwatch")
DID = "did:ethr:0xCaFeDaDa000000000000000000000000CaFeDaDa"
# Who changes the plans: the agent announces no changes of its own DID.
AUTHOR = "did:ethr:0xCaFeBaBa000000000000000000000000CaFeBaBa"
PLAN = "https://endorser.ch/entity/01HCANARYP1AN0000000000000"
POLL = "starred_projects"
# Neither root nor a user of this machine.
STRANGER, USER = 4_000_000, 4_000_001


class Broken(Exception):
    """A promise that does not hold."""


def check(condition, words):
    if not condition:
        raise Broken(words)


def eventually(value, seconds=20, pause=0.02):
    """The first true value; the last one after `seconds`."""
    end = time.monotonic() + seconds
    while True:
        found = value()
        if found or time.monotonic() > end:
            return found
        time.sleep(pause)


def run(*arguments, environment=None, cwd=None, user=None, stdin=None, seconds=60):
    """Runs the command line to its end."""
    command = ([] if user is None else ["setpriv", f"--reuid={user}", "--clear-groups"]) + [STARWATCH, *map(str, arguments)]
    return subprocess.run(command, env=environment, cwd=cwd, input=stdin, capture_output=True, text=True, timeout=seconds,
                          stdin=subprocess.DEVNULL if stdin is None else None, errors="replace")


class Server:
    """An HTTP server on 127.0.0.1 that sends any bytes. Each request takes the next scripted answer, else `default`."""

    def __init__(self, default=None):
        self.default = default or page()
        self.script, self.requests = [], []
        self.lock = threading.Lock()
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port = self.listener.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self.listener.accept()
                threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection):
        with contextlib.suppress(OSError, ValueError), connection, connection.makefile("rb") as stream:
            while line := stream.readline():
                headers = {}
                while (field := stream.readline()) not in (b"\r\n", b"\n", b""):
                    name, _, value = field.partition(b":")
                    headers[name.strip().lower().decode("latin-1")] = value.strip().decode("latin-1")
                body = stream.read(int(headers.get("content-length", "0")))
                with self.lock:
                    self.requests.append((line.decode("latin-1").strip(), headers, body))
                    answer = self.script.pop(0) if self.script else self.default
                if callable(answer):
                    answer = answer(line, headers, body)
                pieces = answer if isinstance(answer, (list, tuple)) else [answer]
                for piece in pieces:
                    if isinstance(piece, float):
                        time.sleep(piece)
                    elif piece is None:
                        return
                    else:
                        connection.sendall(piece)

    def count(self):
        with self.lock:
            return len(self.requests)

    def close(self):
        self.listener.close()


def response(body=b"", headers="", status="200 OK", length=None):
    body = body.encode() if isinstance(body, str) else body
    head = f"HTTP/1.1 {status}\r\nContent-Type: application/json\r\n{headers}"
    head += f"Content-Length: {len(body) if length is None else length}\r\n\r\n"
    return head.encode("latin-1") + body


def item(number=1, name="Canary Garden", **fields):
    summary = {"jwtId": f"{1_700_000_000 + number:010d}_abcdef_{number:08x}", "handleId": PLAN, "name": name,
               "description": "", "issuerDid": AUTHOR, "agentDid": AUTHOR, "version": "1.0.1"}
    return {"planSummary": summary | fields}


def page_text(items=(), more=False, after=None):
    return json.dumps({"data": list(items), "hitLimit": more, "pagination": {"hasMore": more, "nextAfterId": after}})


def page(items=(), headers="", **rest):
    """A correct page of the canonical dialect."""
    return response(page_text(items, **rest), headers)


class Agent:
    """A running agent, with everything that it printed."""

    def __init__(self, folder, config, user=None, environment=None, ready=True):
        self.folder, self.config = folder, config
        self.log = folder / f"agent-{time.monotonic_ns()}.log"
        command = ([] if user is None else ["setpriv", f"--reuid={user}", "--clear-groups"])
        with open(self.log, "wb") as output:
            self.process = subprocess.Popen(command + [STARWATCH, "run", "--config", str(config)], stdout=output, stderr=output,
                                            stdin=subprocess.DEVNULL, env=environment)
        self.pid = self.process.pid
        self.socket = str(folder / "s.sock")
        if ready:
            check(eventually(self.listens), f"the agent does not start: {self.text()[-400:]}")

    def text(self):
        return self.log.read_text(errors="replace")

    def lines(self):
        return [json.loads(line) for line in self.text().splitlines()]

    def ports(self):
        return [int(port) for port in re.findall(r'"address":"[^"]*:(\d+)"', self.text())]

    @property
    def port(self):
        return self.ports()[0]

    def listens(self):
        """Whether both servers answer. A killed agent leaves its socket's file."""
        try:
            connect(self.socket).close()
        except OSError:
            return False
        return bool(self.ports())

    def is_alive(self):
        return self.process.poll() is None

    def stop(self, number=signal.SIGTERM):
        if self.is_alive():
            self.process.send_signal(number)
            try:
                self.process.wait(20)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        return self.process.returncode

    def cpu(self):
        """Seconds of CPU time so far: Linux has a clock for each process."""
        return time.clock_gettime(~self.pid << 3 | 2)

    def memory(self, name="VmHWM"):
        """Bytes; by default the largest resident size since the last `reset_peak`."""
        status = pathlib.Path(f"/proc/{self.pid}/status").read_text()
        return int(re.search(rf"{name}:\s+(\d+) kB", status)[1]) * 1024

    def reset_peak(self):
        pathlib.Path(f"/proc/{self.pid}/clear_refs").write_text("5")

    def control(self, method, path, body=None, headers=None, seconds=30):
        """A request on the control socket."""
        return request(self.socket, method, path, body, headers, seconds)

    def get(self, path, headers=None, seconds=30):
        """A request to the read-only port."""
        return request(("127.0.0.1", self.port), "GET", path, None, headers, seconds)

    def metric(self, name):
        values = re.findall(rf"^{re.escape(name)}(?:{{[^}}]*}})? ([0-9.e+]+)", self.get("/metrics")[2], re.M)
        return sum(map(float, values))

    def poll(self, seconds=60):
        status, _, text = self.control("POST", f"/api/v1/polls/{POLL}/run", seconds=seconds)
        return json.loads(text) if status == 200 else {"outcome": f"http {status}", "text": text}

    def survives(self):
        """The agent runs and answers."""
        check(self.is_alive(), f"the agent ended with {self.process.returncode}: {self.text()[-300:]}")
        begin = time.monotonic()
        check(self.get("/-/healthy")[0] == 200, "/-/healthy is not 200")
        return time.monotonic() - begin


def connect(address, seconds=30):
    if isinstance(address, str):
        connection = socket.socket(socket.AF_UNIX)
        connection.settimeout(seconds)
        connection.connect(address)
        return connection
    return socket.create_connection(address, seconds)


def request(address, method, path, body=None, headers=None, seconds=30):
    """Sends a correct request; returns status, headers and text."""
    client = http.client.HTTPConnection("localhost", timeout=seconds)
    client.sock = connect(address, seconds)
    try:
        client.request(method, path, body, headers or {})
        answer = client.getresponse()
        return answer.status, dict(answer.getheaders()), answer.read().decode("utf-8", "replace")
    finally:
        client.close()


def exchange(address, data, seconds=10, half_close=False):
    """Sends bytes and returns what comes until the end, or until nothing more comes."""
    data = data.encode("latin-1") if isinstance(data, str) else data
    received = b""
    with connect(address, seconds) as connection:
        try:
            connection.sendall(data)
            if half_close:
                connection.shutdown(socket.SHUT_WR)
            while piece := connection.recv(65536):
                received += piece
        except OSError:  # The other side closed, or says no more.
            pass
    return received.decode("latin-1")


class World:
    """A temporary folder with what was started in it. Everything is gone at the end."""

    def __init__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="starwatch-attack-"))
        self.ending = contextlib.ExitStack()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.ending.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def path(self, name):
        return self.folder / name

    def write(self, name, text, mode=0o600):
        file = self.path(name)
        file.write_bytes(text if isinstance(text, bytes) else text.encode())
        file.chmod(mode)
        return file

    def server(self, default=None):
        server = Server(default)
        self.ending.callback(server.close)
        return server

    def config(self, url, folder=None, **sections):
        """Writes a configuration. `sections` replaces whole sections, as flow mappings of YAML."""
        folder = folder or self.folder
        text = {
            "server": json.dumps({"url": url, "timeout": "5s"}),
            "identity": json.dumps({"did": DID}),
            "storage": json.dumps({"path": str(folder / "starwatch.db")}),
            "polls": json.dumps({POLL: {"kind": POLL, "every": "1h", "bootstrap": "beginning", "group_interval": "1s",
                                        "plan_ids": [PLAN]}}),
            "limits": json.dumps({"requests_per_minute": 10000, "shutdown": "5s"}),
            "http": json.dumps({"listen": "127.0.0.1:0"}),
            "control": json.dumps({"socket": str(folder / "s.sock")}),
            "log": json.dumps({"level": "debug"}),
        }
        for name, value in sections.items():
            text[name] = json.dumps(value)
        return self.write("starwatch.yaml", "".join(f"{name}: {value}\n" for name, value in text.items()))

    def agent(self, config=None, **rest):
        agent = Agent(self.folder, config or self.path("starwatch.yaml"), **rest)
        self.ending.callback(agent.stop)
        return agent
