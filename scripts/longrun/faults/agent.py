"""Faults of the agent itself, and what an operator does to it."""
import signal
import subprocess
import time

from ..base import replay
from .fault import LATE, STALE, Fault


class Killed(Fault):
    """kill -9, and a start after 0 to 5 s."""

    seconds, restarts, with_kill, family = (0, 5), True, False, "agent"
    others = {"ScheduleMissed", "LogErrors"}

    def begin(self):
        self.agent.kill_agent()

    def end(self):
        self.agent.start_agent()


class KillLoop(Fault):
    """Something kills the agent every minute, and it is started again."""

    minutes, seconds, restarts, with_kill, family = (10, 12), None, True, False, "agent"
    alert, others = "CrashLooping", STALE | {"LogErrors"}
    next_kill = 0

    def tick(self, now):
        if now >= self.next_kill:
            self.next_kill = now + 60
            self.agent.kill_agent()
            self.agent.start_agent()


class Stopped(Fault):
    """SIGSTOP, and SIGCONT at the end."""

    minutes, alert, with_kill, family = (9, 11), "AgentDown", False, "agent"
    others = STALE | LATE | {"ClockJumped"}

    def begin(self):
        self.agent.agent.send_signal(signal.SIGSTOP)

    def end(self):
        self.agent.agent.send_signal(signal.SIGCONT)


class Restarted(Fault):
    """SIGTERM, and a start."""

    seconds, restarts, with_kill, family = (0, 0), True, False, "agent"
    others = {"ScheduleMissed"}

    def begin(self):
        status = self.agent.agent.stop()
        if status != 0:
            self.agent.complain(f"the agent exited with {status} on SIGTERM")
        self.agent.start_agent()


class ReloadRefused(Fault):
    """A reload of a configuration with an error."""

    minutes, alert, others, family, with_kill = (4, 6), "ConfigReloadFailed", {"LogErrors"}, "agent", False

    def begin(self):
        self.agent.write("starwatch.yaml", self.agent.configuration().replace("timeout: 10s", "timeout: soon", 1), 0o600)
        self.agent.reload()

    def end(self):
        self.agent.write("starwatch.yaml", self.agent.configuration(), 0o600)
        self.agent.reload()


class Reloaded(Fault):
    """A reload of a good configuration that differs."""

    seconds, with_kill, family = (0, 0), False, "agent"

    def begin(self):
        self.agent.group_interval = self.random.choice(["8s", "10s", "15s"])
        self.agent.write("starwatch.yaml", self.agent.configuration(), 0o600)
        self.agent.reload()


class Downgraded(Fault):
    """The former build is started on the database; it must refuse in one sentence and change nothing."""

    seconds, restarts, with_kill, family = (0, 0), True, False, "agent"
    others = {"ScheduleMissed"}

    def begin(self):
        self.agent.agent.stop()
        former = self.agent.options.former_bin_dir / "starwatch"
        done = subprocess.run(
            [*self.agent.inside(), former, "run", "--config", self.agent.folder / "starwatch.yaml"], capture_output=True,
            text=True, timeout=60, stdin=subprocess.DEVNULL)
        lines = (done.stdout + done.stderr).strip().splitlines()
        if done.returncode != 2 or len(lines) != 1:
            self.agent.complain(f"a downgrade ends with {done.returncode} and {len(lines)} lines: {' / '.join(lines)[-400:]}")
        self.agent.start_agent()


class Refounded(Fault):
    """The former build starts with an empty database, once everything is delivered. The upgrade follows."""

    seconds, restarts, with_kill, family = (200, 240), True, False, "agent"
    others = {"ScheduleMissed", "NoStars", "SignedOut"}
    done = False

    def begin(self):
        self.agent.is_quiet = True
        self.from_then = time.time() + 30

    def tick(self, now):
        # What is published before the first poll of the new database would not be announced.
        if not self.done and now >= self.from_then and self.agent.waiting() == 0 and self.agent.has_all():
            self.done = True
            self.agent.agent.stop()
            self.agent.found_again()
            self.agent.is_quiet = False

    def end(self):
        self.agent.is_quiet = False
        if not self.done:
            self.agent.complain("it was not quiet in time, so no former build was started")


class Upgraded(Fault):
    """The new build is started on the former one's database, after SIGTERM or kill -9, while changes wait for the webhook."""

    seconds, restarts, with_kill, family = (30, 50), True, False, "agent"
    others = {"ScheduleMissed"}
    due = None

    def begin(self):
        self.agent.hook_gate.close()
        replay.post(self.agent.mock + "/mock/publish", {"count": 30})
        self.due = time.time() + 18

    def tick(self, now):
        if self.due and now >= self.due:
            self.due = None
            self.upgrade()

    def upgrade(self):
        if self.random.random() < 0.5:
            self.agent.kill_agent()
        else:
            self.agent.agent.stop()
        self.agent.record["former"] = False
        self.agent.start_agent()

    def end(self):
        self.agent.hook_gate.open()
        if self.due:
            self.upgrade()
