"""Faults of the server."""
import time

from ..base import replay
from .fault import SERVERS, Fault, Scripted

SERVER = replay.SERVER


class ServerDown(Fault):
    """The server refuses connections."""

    minutes, alert, others = (9, 11), "ServerUnreachable", SERVERS

    def begin(self):
        self.agent.server_gate.close()

    def end(self):
        self.agent.server_gate.open()


class ServerErrors(Scripted):
    """The server answers every request with 500, 502 or 503."""

    minutes, alert, others = (10, 12), "ServerUnreachable", SERVERS

    def begin(self):
        self.agent.fault("status", *SERVER, status=self.random.choice([500, 502, 503]))


class ServerErrorsHalf(Scripted):
    """The server answers one request of each cycle with 500."""

    # The alert counts the answers of 15 minutes and then waits for 5.
    minutes, alert, others = (20, 22), "ServerErrors", SERVERS
    next_error = 0

    def begin(self):
        pass

    def tick(self, now):
        if now >= self.next_error:
            self.next_error = now + 15
            replay.post(self.agent.mock + "/mock/fault", {"endpoint": "plans_changed", "fault": "status", "status": 500})


class ServerCut(Scripted):
    """The server cuts its answers off."""

    minutes, alert, others = (11, 13), "ServerUnreachable", SERVERS | {"ContractViolations"}

    def script(self):
        return self.random.choice(["reset_before_head", "reset_mid_body", "commit_then_reset"]), *SERVER


class ServerHangs(Scripted):
    """The server never answers."""

    minutes, alert, others = (11, 13), "ServerUnreachable", SERVERS

    def script(self):
        return "never_answer", *SERVER


class ServerSlow(Scripted):
    """The server takes 6 s for each answer."""

    minutes, alert, others = (15, 17), "ServerSlow", SERVERS

    def begin(self):
        self.agent.fault("delay", *SERVER, seconds=6)


class Throttled(Scripted):
    """The server answers every request with 429 and Retry-After: 60."""

    minutes, alert, others = (9, 11), "ThrottledTooLong", SERVERS

    def begin(self):
        self.agent.fault("rate_limited", *SERVER, retry_after="60")


class Held(Scripted):
    """The server answers once with 429 and Retry-After: 3600; an operator ends the wait."""

    minutes, alert, others = (9, 11), "ThrottledTooLong", SERVERS
    lift = None

    def begin(self):
        self.agent.fault("rate_limited", *SERVER, retry_after="3600")
        self.lift = time.time() + 40

    def tick(self, now):
        if self.lift and now > self.lift:
            self.agent.clear()
            self.lift = None

    def end(self):
        self.agent.clear()
        self.agent.run("server", "clear-wait")


class TokenRefused(Scripted):
    """The server refuses every token."""

    minutes, alert, others = (9, 11), "CredentialsRefused", SERVERS | {"TokenRefreshFailing"}
    needs_canonical = True

    def script(self):
        return "authentication_failure", *SERVER


class ContractViolated(Scripted):
    """The server's answers violate the contract."""

    minutes, alert, others = (10, 12), "ContractViolations", SERVERS

    def begin(self):
        self.agent.fault("schema_violation", "plans_changed", kind="data_not_array")


class AcknowledgementsRefused(Scripted):
    """The server rejects every acknowledgement (400)."""

    minutes, alert, others = (14, 16), "AcknowledgementsFailing", {"WatermarkStuck", "ServerErrors"}
    needs_canonical = True

    def begin(self):
        self.agent.fault("status", "acknowledge", status=400)
