"""Faults of the disks and of the clocks."""
import sys
import time

from ..base import replay
from .fault import LATE, SERVERS, STALE, Fault


class FileDiskFull(Fault):
    """The file sink's disk has no free space."""

    minutes, alert, others, target, family = (9, 12), "SinkCircuitOpen", LATE | {"DeliveryFailing", "DeadLettersPresent"}, "file", "disk"

    def begin(self):
        self.agent.fill("filedisk")

    def end(self):
        self.agent.resize("filedisk", "1g")
        self.agent.retry_until = time.time() + 120


class DiskFull(Fault):
    """The database's disk has no free space."""

    minutes, alert, family = (6, 8), "StoreFull", "disk"
    can_refuse = True
    others = SERVERS | LATE | {"DiskLow", "StoreErrors", "LogErrors", "DeliveryFailing", "DeadLettersPresent"}

    def begin(self):
        self.agent.fill("disk")

    def end(self):
        self.agent.resize("disk", "1g")


class DatabaseLocked(Fault):
    """Another process locks the database."""

    minutes, alert, family, can_refuse = (11, 13), "StoreBusy", "disk", True
    others = SERVERS | LATE | {"StoreErrors", "LogErrors"}
    program = ("import sqlite3, sys, time; database = sqlite3.connect(sys.argv[1], isolation_level=None, timeout=60); "
               "database.execute('BEGIN IMMEDIATE'); time.sleep(86400)")

    def begin(self):
        self.agent.launch("lock", [*self.agent.inside(), sys.executable, "-c", self.program, self.agent.database_folder / "starwatch.db"])

    def end(self):
        self.agent.processes["lock"].kill()


class ClockBack(Fault):
    """The local clock is set back by two hours, and then right."""

    minutes, alert, family, step = (5, 14), "ClockJumped", "clock", -7200
    others = {"ClockSkewHigh", "ScheduleMissed", "ClockSyncStale", "ThrottledTooLong"}

    def begin(self):
        self.agent.write("offset", str(self.step))

    def end(self):
        self.agent.write("offset", "0")


class ClockAhead(ClockBack):
    """The local clock is set ahead by two hours, and then right."""

    step = 7200


class ServerClockWrong(Fault):
    """The server's clock is an hour ahead or behind."""

    minutes, alert, family = (14, 16), "ClockSkewHigh", "clock"
    others = {"ClockJumped", "ClockSyncStale", "CredentialsRefused", "TokenRefreshFailing"} | STALE

    def begin(self):
        replay.post(self.agent.mock + "/mock/skew", {"seconds": self.random.choice([-3600, 3600])})

    def end(self):
        replay.post(self.agent.mock + "/mock/skew", {"seconds": 0})
