"""What all kinds of faults have in common."""
from ..base import replay

# The consequences of a server that gives no data.
STALE = {"PollFailing", "PollStale", "PollStaleCritical", "FreshnessBurnFast", "FreshnessBurnSlow", "ScheduleMissed",
         "BehindServer", "ClockSyncStale"}
SLOW = {"ServerSlow", "RequestLatencyP95High", "RequestLatencyP99High"}
# ThrottledTooLong: the agent also waits after failures, and Alertmanager tells of the cause only.
SERVERS = STALE | SLOW | {"ServerUnreachable", "ServerErrors", "AcknowledgementsFailing", "WatermarkStuck", "ThrottledTooLong"}
LATE = {"OutboxOldestDue", "WatermarkStuck", "SinkCircuitOpen"}


class Fault:
    """A kind of fault. `minutes`: the shortest and longest duration of a long one, which must raise `alert`."""

    minutes = None
    # Seconds of a short one, which raises no alert or one of those that it can raise; (0, 0) if it has no duration.
    seconds = (15, 75)
    alert, others, target = None, set(), None
    # Whether it stops or starts the agent, which the steady agent's memory does not allow.
    restarts = False
    needs_canonical = False
    # Whether a kill -9 in its midst is tried.
    with_kill = True
    # Whether an agent that is started meanwhile can refuse, as with a full disk. It is then started again and again.
    can_refuse = False
    family = "server"

    def __init__(self, agent, random):
        self.agent, self.random = agent, random

    @classmethod
    def name(cls):
        return replay.re.sub(r"(?<!^)(?=[A-Z])", "_", cls.__name__).lower()

    @classmethod
    def explains(cls):
        return cls.others | ({cls.alert} if cls.alert else set())

    def begin(self):
        pass

    def tick(self, now):
        pass

    def end(self):
        pass


class Scripted(Fault):
    """A fault that the mock server is told."""

    def begin(self):
        self.agent.fault(*self.script())

    def end(self):
        self.agent.clear()
