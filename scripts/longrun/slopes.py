"""Fits lines to the agents' memory and database size."""
from .alarms import series

# Growth that counts as none, by the end of the run.
FLAT = {"memory MiB": 6.0, "open files": 4.0, "threads": 4.0}
# The database keeps the history of 30 days, of changes and of polls, so it grows: at most by so many KiB for each change.
PER_CHANGE = 2.5
QUERIES = {
    "memory MiB": 'process_resident_memory_bytes{job="starwatch"} / 1048576',
    "open files": 'process_open_fds{job="starwatch"}',
    "threads": 'process_threads{job="starwatch"}',
    "database MiB": 'starwatch_store_bytes{job="starwatch",file="database"} / 1048576',
}
# The first minutes of a process and of a database, and the length of the means, in seconds. The means make neighbours
# independent enough for the standard error.
WARM_UP, DATABASE_WARM_UP, MEAN = 900, 2400, 300


def imbalance(state, end):
    """Returns the number of samples of the outbox counters, and of those that were inconsistent."""
    values = [float(value) for result in series(state["prometheus"], 'starwatch_ledger_imbalance_rows{job="starwatch"}', state["begun"],
                                                end, 15) for _, value in result["values"]]
    return len(values), sum(value != 0 for value in values)


def pieces(points, cuts, warm_up):
    """Returns the means of each life: pairs of hours and value. Lives of fewer than three means are left out."""
    bounds = [*cuts, float("inf")]
    for begin, end in zip(bounds, bounds[1:]):
        groups = {}
        for at, value in points:
            if begin + warm_up <= at < end:
                groups.setdefault(at // MEAN, []).append((at, float(value)))
        means = [(sum(a for a, _ in group) / len(group) / 3600, sum(v for _, v in group) / len(group)) for group in groups.values()]
        if len(means) >= 3:
            yield means


def fit(lives):
    """Returns the slope per hour that the lives share, by least squares, its standard error, and the hours of the longest life.
    Too few means give `None`.
    """
    count, centred = 0, []
    for life in lives:
        mean_x, mean_y = (sum(column) / len(life) for column in zip(*life))
        centred += [(x - mean_x, y - mean_y) for x, y in life]
        count += len(life)
    spread = sum(x * x for x, _ in centred)
    if not spread:
        return None
    slope = sum(x * y for x, y in centred) / spread
    squares = sum((y - slope * x) ** 2 for x, y in centred)
    freedom = count - len(lives) - 1
    if freedom < 4:
        return None
    error = (squares / freedom / spread) ** 0.5
    return slope, error, max(life[-1][0] - life[0][0] for life in lives)


def is_flat(line, limit):
    """Whether a line does not rise, or by less than the limit. The second half decides: what an agent does for the first time,
    such as a reload, takes memory that it keeps."""
    slope, error, hours = line
    return slope - 2 * error <= 0 or slope * hours <= limit


def measure(state, end, published):
    """Returns the slope per hour of each quantity of each agent, its standard error, and whether it is flat."""
    rows = []
    for what, query in QUERIES.items():
        found = {result["metric"]["instance"]: result["values"]
                 for result in series(state["prometheus"], query, state["begun"], end, 15)}
        for record in state["agents"]:
            points = [(float(at), value) for at, value in found.get(record["name"], [])]
            upgraded = [w["begin"] for w in record["windows"] if w["kind"] == "upgraded"]
            if record["former"] and not upgraded:
                continue
            founded = [w["begin"] for w in record["windows"] if w["kind"] in ("upgraded", "refounded")]
            cuts = record["starts"] if what != "database MiB" else [record["begun"], *founded]
            cuts = [cut for cut in cuts if not upgraded or cut >= upgraded[0]]
            lives = list(pieces(points, cuts, DATABASE_WARM_UP if what == "database MiB" else WARM_UP))
            whole = fit(lives) if lives else None
            if whole:
                late = fit([life[len(life) // 2:] for life in lives]) or whole
                hourly = published[record["name"]] / (state["elapsed"] / 3600)
                rows.append({"what": what, "agent": record["name"], "whole": whole, "late": late, "first": lives[0][0][1],
                             "last": lives[-1][-1][1], "flat": is_flat(late, FLAT.get(what, PER_CHANGE / 1024 * hourly * late[2]))})
    return rows
