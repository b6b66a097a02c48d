"""The report of a run, as Markdown."""
import collections
import subprocess
import time
from pathlib import Path

from . import alarms, deliveries, slopes
from .faults import KINDS


WORDS = {True: "yes", False: "NO", None: "not known yet"}


def clock(at):
    return time.strftime("%H:%M:%S", time.gmtime(at))


def span(seconds):
    return f"{int(seconds) // 60}:{int(seconds) % 60:02d}"


def table(heads, rows):
    yield "| " + " | ".join(heads) + " |"
    yield "| " + " | ".join("---" for _ in heads) + " |"
    for row in rows:
        yield "| " + " | ".join(str(cell) for cell in row) + " |"
    yield ""


def faults(state, long):
    """Counts the faults of each kind, and how their alerts came."""
    windows = [window for record in state["agents"] for window in record["windows"]]
    rows = []
    for name, kind in KINDS.items():
        mine = [window for window in windows if window["kind"] == name]
        longs = [window for window in long if window["kind"] == name]
        delays = sorted(window["delay"] for window in longs if window["delay"] is not None)
        alert = "–" if not longs else f"{kind.alert}: {len(delays)} of {len(longs)}"
        after = f"{span(delays[0])}–{span(delays[-1])}" if delays else "–"
        rows.append([kind.family, name, sum(not window["long"] for window in mine), sum(window["long"] for window in mine),
                     alert, after, kind.__doc__])
    yield "## Faults"
    yield ""
    yield from table(["of", "fault", "short", "long", "alert", "after", "what"], rows)


def sinks(counts):
    rows = [[name, published, replaced, sink, tally["arrived"], len(tally["lost"]), len(tally["twice"]), tally["again"], tally["differ"],
             tally.get("spared", 0)] for name, (found, published, replaced) in counts.items() for sink, tally in found.items()]
    yield "## Changes"
    yield ""
    yield "Replaced: changes that the server replaced by a newer one of the same plan before the agent asked. "
    yield "Twice: one change in two notifications. Repeated: one notification again, with the same id, which a receiver can tell. "
    yield "Gone: changes of the time in which the webhook returned 410."
    yield ""
    yield from table(["agent", "to announce", "replaced", "sink", "arrived", "lost", "twice", "repeated", "differ", "gone"], rows)


def flatness(rows):
    yield "## Memory and files"
    yield ""
    yield (f"Lines fitted to means of {slopes.MEAN // 60} minutes, without the first {slopes.WARM_UP // 60} minutes of a process "
           f"and the first {slopes.DATABASE_WARM_UP // 60} of a database. Hours: of the longest life of a process. "
           f"The database keeps the history of 30 days: at most {slopes.PER_CHANGE} KiB for each change count as flat. "
           f"The second half decides, because what an agent does for the first time takes memory that it keeps.")
    yield ""
    yield from table(["what", "agent", "first", "last", "slope per hour", "of the second half", "hours", "flat"],
                     [[r["what"], r["agent"], f"{r['first']:.1f}", f"{r['last']:.1f}", slope(r["whole"]), slope(r["late"]),
                       f"{r['whole'][2]:.1f}", "yes" if r["flat"] else "NO"] for r in rows])


def slope(line):
    return f"{line[0]:+.2f} ± {line[1]:.2f}"


def alerts(fired, uncaused, brief, long):
    yield "## Alerts and causes"
    yield ""
    counts = collections.Counter(alert["alert"] for alert in fired)
    without = collections.Counter(alert["alert"] for alert in uncaused)
    short = collections.Counter(alert["alert"] for alert in brief)
    yield from table(["alert", "fired", "by a short fault", "without a cause"],
                     [[name, count, short[name], without[name]] for name, count in sorted(counts.items())])
    for words, some in (("Without a cause", uncaused), ("By a short fault", brief)):
        for alert in some:
            yield (f"- {words}: {alert['alert']}{'(' + alert['sink'] + ')' if alert['sink'] else ''} of {alert['agent']}, "
                   f"{clock(alert['from'])}–{clock(alert['to'])}")
    for window in long:
        if window["delay"] is None:
            yield (f"- Without its alert {window['alert']}: {window['kind']} of {window['agent']}, "
                   f"{clock(window['begin'])}–{clock(window['end'])}")
    yield ""


def restarts(state):
    yield "## Restarts"
    yield ""
    rows = []
    for record in state["agents"]:
        kinds = collections.Counter(window["kind"] for window in record["windows"])
        kills = sum(window["kill"] for window in record["windows"])
        rows.append([record["name"], "steady" if record["steady"] else "", len(record["starts"]), kinds["killed"], kills,
                     kinds["kill_loop"], kinds["restarted"], record.get("refused_starts", 0), kinds["upgraded"], kinds["downgraded"]])
    yield from table(["agent", "", "starts", "kill -9", "kill -9 in a fault", "kill loops", "SIGTERM", "refused starts",
                      "upgrades", "refused downgrades"], rows)


def version(folder):
    done = subprocess.run([Path(folder) / "starwatch", "--version"], capture_output=True, text=True)
    return done.stdout.strip()


def verdicts(state, counts, rows, uncaused, long):
    """Returns each promise, whether it holds, and figures."""
    tallies = [tally for found, _, _ in counts.values() for tally in found.values()]
    published = sum(count for _, count, _ in counts.values())
    complaints = [text for record in state["agents"] for text in record["complaints"]]
    missing = [window for window in long if window["delay"] is None]
    samples, wrong = slopes.imbalance(state, state["beat"])
    ended = [record.get("exit") for record in state["agents"]]
    over = [] if not state["finished"] else [
        ("everything is acknowledged at the end", bool(state.get("drained")), ""),
        ("each agent exits 0 on SIGTERM", not any(ended), ", ".join(map(str, ended))),
    ]
    return [
        ("0 lost", not any(tally["lost"] for tally in tallies) if state["finished"] else None, f"{published} changes to 3 sinks each"),
        ("0 twice", not any(tally["twice"] for tally in tallies), ""),
        ("the file has each notification once", not any(found["file"]["again"] for found, _, _ in counts.values()), ""),
        ("each notification has one content", not any(tally["differ"] for tally in tallies), ""),
        ("the outbox counters are consistent", not wrong, f"{samples} samples"),
        ("memory, files and threads are flat", all(row["flat"] for row in rows), f"{len(rows)} lines"),
        ("no alert without a cause", not uncaused, f"{len(uncaused)} without"),
        ("no cause without an alert", not missing, f"{len(long)} long faults, {len(missing)} without"),
        ("nothing unexpected", not complaints, f"{len(complaints)} events"),
    ] + over


def write(state, members):
    """Yields the lines of the report, and returns whether all promises hold."""
    fired, uncaused, brief, long = alarms.judge(state)
    counts = {member.label: deliveries.count(member) for member in members}
    rows = slopes.measure(state, min(time.time(), state["beat"]), {name: count for name, (_, count, _) in counts.items()})
    judged = verdicts(state, counts, rows, uncaused, long)
    yield "# The long run"
    yield ""
    faulted = sum(len(record["windows"]) for record in state["agents"])
    yield (f"{state['elapsed'] / 3600:.2f} of {state['seconds'] / 3600:.2f} hours, seed {state['seed']}, {len(state['agents'])} agents, "
           f"{faulted} faults. Begun {time.strftime('%Y-%m-%d %H:%M', time.gmtime(state['begun']))} UTC. "
           f"Resumed {len(state['gaps'])} times.")
    if not state["finished"]:
        yield "The run is not over. Changes on their way to a sink stand under \"lost\" below."
    yield ""
    yield from table(["promise", "holds", ""], [[name, WORDS[holds], figures] for name, holds, figures in judged])
    yield from faults(state, long)
    yield from sinks(counts)
    yield from flatness(rows)
    yield from alerts(fired, uncaused, brief, long)
    yield from restarts(state)
    complaints = sorted((at, record["name"], text) for record in state["agents"] for at, text in record["complaints"])
    if complaints:
        yield "## Unexpected"
        yield ""
        yield from (f"- {clock(at)} {name}: {text}" for at, name, text in complaints)
        yield ""
    return all(holds for _, holds, _ in judged)
