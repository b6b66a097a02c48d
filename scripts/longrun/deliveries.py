"""Compares what the mock server published with what each sink received."""
import collections
import datetime
import json

from .base import replay


def lines(path):
    """Returns the notifications of a file: id, ids of the changes, creation time, whole line."""
    try:
        with open(path) as file:
            text = file.read()
    except OSError:
        return []
    found = []
    for line in text.splitlines():
        try:
            note = json.loads(line)
        except ValueError:
            found.append((None, [], "", line))
            continue
        found.append((note["id"], [change["jwt_id"] for change in note["changes"]], note["created_at"], line))
    return found


def superseded(order, arrived, plans):
    """Returns the changes that the server replaced before the agent asked.

    The server's endorser dialect shows the last change of each plan only, and the mock server changes its `plans` plans in turn. An
    answer that lacks older changes therefore has exactly one for each plan, so as many consecutive ones arrived after the gap.
    """
    found, gap, row = set(), [], 0
    for change in order:
        if change not in arrived:
            gap, row = (gap if not row or row >= plans else []) + [change], 0
            continue
        row += 1
        if row == plans:
            found.update(gap)
            gap = []
    return found


def tally(entries, published):
    """Returns the counts of a sink. `entries`: notification id, ids of its changes, number of deliveries, bodies agree."""
    ids = collections.defaultdict(set)
    for note, changes, _, _ in entries:
        for change in changes:
            ids[change].add(note)
    return {
        "arrived": len(ids.keys() & published), "lost": sorted(published - ids.keys()),
        "twice": sorted(change for change, notes in ids.items() if len(notes) > 1),
        "again": sum(count - 1 for _, _, count, _ in entries), "differ": sum(not agree for _, _, _, agree in entries),
    }


def grouped(found):
    """Returns the entries of a file, one for each notification."""
    groups = collections.defaultdict(list)
    for note, changes, _, line in found:
        groups[note].append((changes, line))
    return [(note, group[0][0], len(group), len({line for _, line in group}) == 1) for note, group in groups.items()]


def keep(agent):
    """Saves what the mock server and the file sink have, before they end."""
    text = json.dumps({"published": agent.published()["published"],
                       "hook": json.loads(replay.get(agent.mock + "/mock/hook"))["notifications"]})
    (agent.folder / "mock.json").write_text(text)
    with open(agent.seen(agent.notifications())) as file:
        (agent.folder / "notifications.jsonl").write_text(file.read())


def count(agent):
    """Returns the tally of each sink of an agent's, the number of changes that it had to announce, and of replaced ones."""
    if not agent.is_over:
        keep(agent)
    mock = json.loads((agent.folder / "mock.json").read_text())
    in_file = lines(agent.folder / "notifications.jsonl")
    replaced = agent.replaced(mock["published"], {change for _, changes, _, _ in in_file for change in changes})
    published = set(mock["published"]) - replaced
    sinks = {
        "file": tally(grouped(in_file), published),
        "command": tally(grouped(lines(agent.folder / "command.jsonl")), published),
        "hook": tally([(n["webhook_id"], n["jwt_ids"], n["deliveries"], n["bodies_agree"]) for n in mock["hook"]], published),
    }
    # A sink that returned 410 gets nothing of its time, as docs/notifications-and-sinks.md says.
    gone = [(w["begin"], w["end"] or float("inf")) for w in agent.record["windows"] if w["kind"] == "hook_gone"]
    spared = {change for _, changes, at, _ in in_file for change in changes
              if any(begin - 30 <= seconds(at) <= end + 5 for begin, end in gone)}
    sinks["hook"]["spared"] = len(spared & set(sinks["hook"]["lost"]))
    sinks["hook"]["lost"] = [change for change in sinks["hook"]["lost"] if change not in spared]
    return sinks, len(published), len(replaced)


def seconds(text):
    try:
        return datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()
    except (ValueError, AttributeError):
        return float(text) / 1000 if str(text).isdigit() else 0
