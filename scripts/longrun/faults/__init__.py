"""The kinds of faults: what each does to an agent, which alert it must raise, and which it can raise."""
from ..base import replay
from . import agent, machine, server, sinks
from .fault import Fault, Scripted

# How long an alert can outlive its cause. The agent counts the server's errors of 15 minutes, and a clock that was set is a
# problem for 15 minutes; alerts/README.md lists the others.
ENDS_WITHIN = replay.ENDS_WITHIN
OUTLIVES = {"ServerErrors": 1500, "ClockJumped": 1320, "ClockSkewHigh": 900, "ServerSlow": 1500, "SeriesOverflow": 5400}


def kinds(module):
    """Yields the kinds that a module defines, in its order."""
    for value in vars(module).values():
        if isinstance(value, type) and issubclass(value, Fault) and value not in (Fault, Scripted) and value.__module__ == module.__name__:
            yield value


KINDS = {kind.name(): kind for module in (server, sinks, machine, agent) for kind in kinds(module)}
