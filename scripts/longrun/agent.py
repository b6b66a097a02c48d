"""An agent of the run, with a mock server, two gates and two small disks of its own."""
import json
import os
import signal
import subprocess
import time
import urllib.parse

from . import deliveries
from .base import ROOT, replay
from .process import Process

FAULT_RATE = 0.005
DISK = "1g"


class Gate(replay.Gate):
    """A gate that a later script opens again on the same port."""

    def __init__(self, target, port):
        self.target, self.port = target, port
        self.sockets, self.listener = set(), None
        self.open()

    def close(self):
        if self.listener:
            super().close()
            self.listener = None

    def open(self):
        if not self.listener:
            super().open()


class Agent(replay.World):
    """One of the run's agents. What `record` holds is saved and found again by a later script."""

    timeout = "10s"
    settings = "outbox:\n  keep_delivered: 30m\n  cleanup_interval: 5m\n"

    def __init__(self, folder, options, record):
        self.label, self.options, self.record = folder.name, options, record
        super().__init__(folder, options.bin_dir, None)
        self.database_folder = folder / "disk"
        self.steady = record["steady"]
        self.auth, self.dialect = ("shared_secret", "canonical") if record["canonical"] else ("none", "endorser")
        self.group_interval = "10s"
        self.processes = {}

    def name(self):
        return self.label

    # Start

    def start(self):
        """Starts the mock server, the disks and the agent."""
        self.write("secret", "0123456789abcdef" * 4, 0o600)
        self.write("offset", "0")
        self.write("command.exit", "0")
        self.write("command", '#!/bin/sh\nread -r status <"$1.exit"\n[ "$status" = 0 ] || exit "$status"\n'
                   'body=$(cat) && printf "%s\\n" "$body" >>"$1.jsonl"\n', 0o700)
        subprocess.run(["cc", "-shared", "-fPIC", "-o", self.folder / "clock.so", ROOT / "alerts" / "clock.c", "-ldl"], check=True)
        access = ["--auth", self.auth] + (["--secret-file", self.folder / "secret"] if self.auth != "none" else [])
        ready = self.folder / "mock.url"
        self.launch("mock", [
            self.bin_dir / "mock-endorser", "--dialect", self.dialect, "--plans", "20", "--changes", "4", "--rate-limit", "0",
            "--fault-rate", str(FAULT_RATE), "--fault-seed", str(self.record["seed"]), "--ready-file", ready, *access])
        replay.wait_for("mock-endorser", ready.exists)
        self.record["mock"] = ready.read_text().strip()
        self.record["ports"] = [replay.free_port() for _ in range(3)]
        self.record["plans"] = json.loads(replay.get(self.record["mock"] + "/mock/plans"))["plans"]
        self.make_disks()
        self.attach()
        self.write("starwatch.yaml", self.configuration(), 0o600)
        self.start_agent()
        replay.wait_for("the agent " + self.label, self.answers)
        self.record["begun"] = time.time()

    def adopt(self):
        """Continues with what a former script started."""
        self.find()
        for name in ("mock", "disks"):
            if self.processes[name].poll() is not None:
                raise SystemExit(f"soak: the {name} of {self.label} ended, so the run cannot be resumed. Start a new one.")
        self.attach()

    def find(self):
        """Finds what another script started."""
        self.processes = {name: Process(*saved) for name, saved in self.record["processes"].items()}
        self.agent = self.processes["agent"]
        self.know()

    def know(self):
        self.mock, self.plans, self.port = self.record["mock"], self.record["plans"], self.record["ports"][0]
        self.address = f"127.0.0.1:{self.port}"

    def attach(self):
        self.know()
        target = ("127.0.0.1", urllib.parse.urlsplit(self.mock).port)
        self.server_gate, self.hook_gate = (Gate(target, port) for port in self.record["ports"][1:])

    def launch(self, name, arguments, **more):
        process = self.processes[name] = Process.start(arguments, self.folder / f"{name}.log", **more)
        self.record.setdefault("processes", {})[name] = process.saved()
        return process

    def make_disks(self):
        """Mounts two tmpfs in a mount namespace that a sleeping process keeps: of the database and of the file sink."""
        for name in ("disk", "filedisk"):
            (self.folder / name).mkdir()
        mount = ('for disk in "$0" "$1"; do mount -t tmpfs -o size=' + DISK + ',mode=700 tmpfs "$disk" || exit 1; done; '
                 'touch "$2"; exec sleep infinity')
        disks = self.launch("disks", [*replay.DiskFull.unshare, "sh", "-c", mount, self.folder / "disk", self.folder / "filedisk",
                                      self.folder / "disks.ready"])
        replay.wait_for("the disks: " + str(self.folder / "disks.log"),
                        lambda: (self.folder / "disks.ready").exists() or disks.poll() is not None)
        if disks.poll() is not None:
            raise SystemExit("soak: no disk can be mounted. Run it as root, or allow user namespaces.")

    def inside(self):
        user = [] if os.geteuid() == 0 else ["--user", "--preserve-credentials"]
        return ["nsenter", "--target", str(self.processes["disks"].pid), "--mount", *user]

    def seen(self, path):
        """Returns the path of a file of the agent's disks, as this script sees it."""
        return f"/proc/{self.processes['disks'].pid}/root{path}"

    def program(self):
        former = self.record.get("former")
        return (self.options.former_bin_dir if former else self.bin_dir) / "starwatch"

    def start_agent(self):
        self.agent = self.launch("agent", [
            *self.inside(), "env", f"LD_PRELOAD={self.folder / 'clock.so'}", f"STARWATCH_CLOCK_OFFSET={self.folder / 'offset'}",
            "SWIFT_BACKTRACE=enable=no", self.program(), "run", "--config", self.folder / "starwatch.yaml"])
        self.record.setdefault("starts", []).append(time.time())

    def found_again(self):
        """Starts the former build with an empty database, from the latest change on."""
        disk = self.seen(self.database_folder)
        for name in os.listdir(disk):
            os.unlink(f"{disk}/{name}")
        self.record |= {"former": True, "bootstrap": "latest"}
        self.write("starwatch.yaml", self.configuration(), 0o600)
        self.start_agent()
        replay.wait_for("the former build of " + self.label, self.answers)
        replay.wait_for("its first poll", lambda: self.run("poll", "starred_projects")[0] == 0)

    def answers(self):
        if self.agent.poll() is not None:
            raise SystemExit((self.folder / "agent.log").read_text()[-2000:] + f"soak: the agent {self.label} exited")
        return replay.get(f"http://{self.address}/metrics", timeout=5)

    # Configuration

    def sinks(self):
        command = self.folder / "command"
        return super().sinks().replace(str(self.folder / "notifications.jsonl"), str(self.notifications())) + f"""
    - name: command
      kind: command
      argv: ["{command}", "{command}"]"""

    def notifications(self):
        return self.folder / "filedisk" / "notifications.jsonl"

    def configuration(self):
        text = super().configuration().replace("group_interval: 10s", f"group_interval: {self.group_interval}")
        return text.replace("bootstrap: beginning", f"bootstrap: {self.record.get('bootstrap', 'beginning')}")

    def reload(self):
        self.agent.send_signal(signal.SIGHUP)

    def resize(self, disk, size):
        subprocess.run([*self.inside(), "mount", "-o", f"remount,size={size}", self.folder / disk], check=True)

    def fill(self, disk):
        found = os.statvfs(self.seen(self.folder / disk))
        self.resize(disk, (found.f_blocks - found.f_bfree) * found.f_frsize)

    def run(self, *command):
        """Runs a command of `starwatch` against the agent."""
        done = subprocess.run([self.program(), *command, "--config", self.folder / "starwatch.yaml"], capture_output=True,
                              text=True, timeout=240, stdin=subprocess.DEVNULL)
        return done.returncode, done.stdout + done.stderr

    # What happened

    def published(self):
        return json.loads(replay.get(self.mock + "/mock/state"))

    def metric(self, pattern):
        """Returns the sum of the values of the series that begin with the pattern; `None` without an answer."""
        try:
            text = replay.get(f"http://{self.address}/metrics", timeout=5)
        except OSError:
            return None
        return sum(float(line.rsplit(" ", 1)[1]) for line in text.splitlines() if line.startswith(pattern))

    def replaced(self, published, arrived):
        """Returns the changes that the server replaced before the agent asked."""
        return deliveries.superseded(published, arrived, len(self.plans)) if self.dialect == "endorser" else set()

    def has_all(self):
        """Whether the file has every published change that was not replaced."""
        published = self.published()["published"]
        found = {change for _, changes, _, _ in deliveries.lines(self.seen(self.notifications())) for change in changes}
        return set(published) - self.replaced(published, found) <= found

    def waiting(self):
        """Returns the number of rows that are not acknowledged yet."""
        counts = [self.metric(f'starwatch_outbox_rows{{state="{state}"') for state in ("pending", "claimed", "delivered", "dead")]
        return None if None in counts else sum(counts)
