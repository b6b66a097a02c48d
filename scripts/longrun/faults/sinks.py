"""Faults of the webhook and of the command."""
import time

from .fault import LATE, Fault, Scripted


class HookRefuses(Fault):
    """The webhook's port refuses connections."""

    minutes, alert, others, target, family = (9, 12), "SinkCircuitOpen", LATE, "hook", "sink"

    def begin(self):
        self.agent.hook_gate.close()

    def end(self):
        self.agent.hook_gate.open()


class HookHangs(Scripted):
    """The webhook never answers."""

    minutes, alert, others, target, family = (10, 12), "SinkCircuitOpen", LATE, "hook", "sink"

    def script(self):
        return "never_answer", "hook"


class HookErrors(Scripted):
    """The webhook answers 429, 500 or 503."""

    minutes, alert, others, target, family = (9, 12), "SinkCircuitOpen", LATE, "hook", "sink"

    def begin(self):
        self.agent.fault("status", "hook", status=self.random.choice([429, 500, 503]))


class HookRejects(Scripted):
    """The webhook rejects every notification (400); an operator retries the dead letters."""

    minutes, alert, target, family = (9, 11), "DeliveryFailing", "hook", "sink"
    others = LATE | {"DeadLettersPresent"}

    def begin(self):
        self.agent.fault("status", "hook", status=400)

    def end(self):
        self.agent.clear()
        self.agent.retry_until = time.time() + 120


class HookGone(Scripted):
    """The webhook answers 410; an operator reloads the configuration."""

    minutes, alert, others, target, family = (12, 14), "SinkDisabled", LATE, "hook", "sink"

    def begin(self):
        self.agent.fault("status", "hook", status=410)

    def end(self):
        self.agent.clear()
        self.agent.reload()


class CommandUnavailable(Fault):
    """The command exits with 75."""

    minutes, alert, others, target, family = (9, 12), "SinkCircuitOpen", LATE, "command", "sink"
    status = "75"

    def begin(self):
        self.agent.write("command.exit", self.status)

    def end(self):
        self.agent.write("command.exit", "0")


class CommandRejects(CommandUnavailable):
    """The command exits with 1; an operator retries the dead letters."""

    minutes, alert, others, status = (9, 11), "DeliveryFailing", LATE | {"DeadLettersPresent"}, "1"

    def end(self):
        super().end()
        self.agent.retry_until = time.time() + 120
