"""Compares the alerts that Prometheus fired with their causes."""
import json
import time
import urllib.parse

from .base import replay
from .faults import ENDS_WITHIN, KINDS, OUTLIVES

# How often Prometheus evaluates an alert, and the delay until it knows of a cause.
SLACK = 75


# The answers of a run that is over, by query.
KEPT = {}


def series(prometheus, query, begin, end, step):
    if query not in KEPT:
        text = urllib.parse.urlencode({"query": query, "start": begin, "end": end, "step": max(step, (end - begin) / 10000)})
        KEPT[query] = json.loads(replay.get(f"{prometheus}/api/v1/query_range?{text}", timeout=60))["data"]["result"]
    return KEPT[query]


def intervals(prometheus, begin, end):
    """Returns the alerts that fired: name, instance, sink, begin and end."""
    step, found = 15, []
    for result in series(prometheus, 'ALERTS{alertstate="firing",alertname!="StarwatchWatchdog"}', begin, end, step):
        labels, times = result["metric"], [at for at, _ in result["values"]]
        first = times[0]
        for at, following in zip(times, [*times[1:], None]):
            if following is None or following - at > 5 * step:
                found.append({"alert": labels["alertname"].removeprefix("Starwatch"), "agent": labels.get("instance", ""),
                              "sink": labels.get("sink") or labels.get("target") or "", "from": first, "to": at})
                first = following
    return found


def crash_loops(starts):
    """Returns the times with more than two starts in 30 minutes, as the rule counts them. The first start counts for none."""
    starts = sorted(starts)[1:]
    return [(third, first + 1800) for first, third in zip(starts, starts[2:]) if third - first < 1800]


def causes(record, gaps, now):
    """Returns what can raise an alert: the names (`None`: any), the sink, begin and end."""
    former = record["begun"] - 60
    for window in record["windows"]:
        kind = KINDS[window["kind"]]
        former = window["begin"] if window["kind"] == "refounded" else former
        yield kind.explains(), kind.target, window["begin"], window["end"] or now
        if window["kind"] == "upgraded":
            # The rules belong to the new build.
            yield None, None, former, window["end"] or now
    for begin, end in crash_loops(record["starts"]):
        yield {"CrashLooping"}, None, begin, end
    for begin, end in gaps:
        # The gates closed with the script.
        yield KINDS["server_down"].explains() | KINDS["hook_refuses"].explains(), None, begin, end


def is_caused(alert, found):
    """Returns whether each minute of the alert has a cause."""
    grace = OUTLIVES.get(alert["alert"], ENDS_WITHIN)
    at = alert["from"]
    fitting = sorted((begin, end + grace) for names, target, begin, end in found
                     if (names is None or alert["alert"] in names) and (not target or not alert["sink"] or target == alert["sink"]))
    covered = False
    for begin, end in fitting:
        if begin <= at <= end:
            at, covered = end, True
    return covered and at >= alert["to"]


def judge(state):
    """Returns all alerts, those without a cause, those of a short fault, and each long fault with its alert's delay, `None` without one."""
    now = min(time.time(), state["beat"] + 60)
    fired = intervals(state["prometheus"], state["begun"], now)
    uncaused, brief, long = [], [], []
    for record in state["agents"]:
        found = list(causes(record, state["gaps"], now))
        lasting = list(causes({**record, "windows": [w for w in record["windows"] if w["long"] or w["kind"] == "upgraded"]}, [], now))
        mine = [alert for alert in fired if alert["agent"] == record["name"]]
        for alert in mine:
            if not is_caused(alert, found):
                uncaused.append(alert)
            elif not is_caused({**alert, "to": alert["from"]}, lasting):
                brief.append(alert)
        for window in record["windows"]:
            if not window["long"] or window.get("interrupted") or window["end"] is None:
                continue
            kind = KINDS[window["kind"]]
            hits = [alert["from"] for alert in mine if alert["alert"] == kind.alert and alert["to"] >= window["begin"]
                    and alert["from"] <= window["end"] + SLACK and kind.target in (None, alert["sink"], alert["sink"] or kind.target)]
            delay = max(0, min(hits) - window["begin"]) if hits else None
            long.append({"agent": record["name"], **window, "alert": kind.alert, "delay": delay})
    uncaused += [alert for alert in fired if alert["agent"] not in {record["name"] for record in state["agents"]}]
    return fired, uncaused, brief, long
