"""The plan of a run: which fault each agent meets, and when. It follows from the seed alone."""
import random

from .faults import KINDS

# Seconds before the first fault, after a long fault, and without faults at the end.
WARM_UP, REST, QUIET = 180, 240, 780


def deal(kinds, random):
    """Yields the kinds for ever: each once before any repeats, in a random order."""
    while True:
        deck = sorted(kinds)
        random.shuffle(deck)
        yield from deck


def fits(kind, agent):
    kind = KINDS[kind]
    return not (kind.restarts and agent["steady"]) and not (kind.needs_canonical and not agent["canonical"])


def short_step(at, kind, agent, random):
    low, high = KINDS[kind].seconds
    step = {"kind": kind, "at": at, "for": round(random.uniform(low, high), 1), "long": False}
    if KINDS[kind].with_kill and not agent["steady"] and random.random() < 0.4:
        step["kill"] = round(step["for"] * random.random(), 1)
    return step


def make(seed, seconds, agents, has_former):
    """Returns the steps of each agent: kind, begin and duration in seconds of the run, and whether it is a long one."""
    # The agents share a deck, so that a short run has every kind. Who cannot have a kind leaves it for the next.
    decks = {"long": [], "short": []}
    sources = {
        "long": deal([name for name, kind in KINDS.items() if kind.minutes], random.Random(f"{seed} long")),
        "short": deal([name for name, kind in KINDS.items() if kind.seconds and name != "upgraded"
                       and (has_former or name not in ("downgraded", "refounded"))] + ["killed"] * 3, random.Random(f"{seed} short")),
    }

    def draw(length, agent):
        for index, kind in enumerate(decks[length]):
            if fits(kind, agent):
                return decks[length].pop(index)
        while not fits(kind := next(sources[length]), agent):
            decks[length].append(kind)
        return kind

    plans = [[] for _ in agents]
    generators = [random.Random(f"{seed} {number}") for number in range(len(agents))]
    times = [WARM_UP + generator.uniform(0, 60) for generator in generators]
    for number, agent in enumerate(agents):
        if agent.get("former"):
            # Its first minutes pass with the former build.
            times[number] += generators[number].uniform(60, 600)
            plans[number].append({"kind": "upgraded", "at": round(times[number], 1), "for": 40, "long": False})
            times[number] += 40 + REST
    while (at := min(times)) < seconds - QUIET:
        number = times.index(at)
        agent, generator, plan = agents[number], generators[number], plans[number]
        for _ in range(generator.choice([1, 2, 3])):
            step = short_step(round(at, 1), draw("short", agent), agent, generator)
            plan.append(step)
            at += step["for"] + generator.uniform(30, 90)
            if step["kind"] == "refounded":
                at += generator.uniform(60, 240)
                plan.append(short_step(round(at, 1), "upgraded", agent, generator))
                at += plan[-1]["for"] + generator.uniform(30, 90)
        kind = draw("long", agent)
        minutes = generator.uniform(*KINDS[kind].minutes)
        if at + minutes * 60 < seconds - QUIET:
            plan.append({"kind": kind, "at": round(at, 1), "for": round(minutes * 60, 1), "long": True})
            times[number] = at + minutes * 60 + REST
        else:
            decks["long"].insert(0, kind)
            times[number] = at + generator.uniform(30, 90)
    return plans
