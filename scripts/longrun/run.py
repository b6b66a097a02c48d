"""The run itself: it follows the plan, publishes changes, and saves its state every few seconds."""
import json
import random
import time
import types

from . import alarms, plan
from .agent import Agent
from .base import replay
from .faults import KINDS
from .process import Children

RULES = replay.HERE / "starwatch.rules.yml"
DRAIN_SECONDS = 600


class State:
    """The run's state in a file of its folder. `beat` is the time of the last save."""

    def __init__(self, folder):
        self.path = folder / "state.json"
        self.values = json.loads(self.path.read_text()) if self.path.exists() else {}

    def save(self):
        self.values["beat"] = time.time()
        part = self.path.with_suffix(".part")
        part.write_text(json.dumps(self.values))
        part.rename(self.path)


class Member(Agent):
    """An agent with its part of the plan."""

    retry_until = next_retry = next_publish = 0
    active, is_over, is_quiet = None, False, False

    def prepare(self, steps, seed):
        self.steps, self.seed = steps, seed
        self.random = random.Random(f"{seed} changes of {self.label} {time.time() if self.record['next'] else 0}")

    def complain(self, text):
        self.record["complaints"].append([time.time(), text])
        print(f"{time.strftime('%H:%M:%S')} {self.label}: {text}", flush=True)

    def fault_of(self, index):
        kind = KINDS[self.steps[index]["kind"]]
        return kind(self, random.Random(f"{self.seed} {self.label} {index}"))

    def attempt(self, what, action, *arguments):
        try:
            action(*arguments)
        except Exception as error:
            self.complain(f"{what} failed: {error!r}"[:300])

    def begin(self, now):
        index = self.record["next"]
        step = self.steps[index]
        print(f"{time.strftime('%H:%M:%S')} {self.label}: {step['kind']} for {step['for']:.0f} s", flush=True)
        self.active, self.step = self.fault_of(index), step
        self.ends = now + step["for"]
        self.kills = now + step["kill"] if "kill" in step else None
        self.record["next"] = index + 1
        self.record["windows"].append({"kind": step["kind"], "long": step["long"], "begin": now, "end": None, "kill": "kill" in step})
        self.attempt(step["kind"], self.active.begin)
        if not step["for"]:
            self.finish()

    def finish(self):
        fault, self.active = self.active, None
        self.attempt(fault.name() + " (end)", fault.end)
        self.record["windows"][-1]["end"] = time.time()

    def follow(self, now, elapsed):
        """Does what is due."""
        if self.active:
            self.attempt(self.active.name(), self.active.tick, now)
            if self.kills and now >= self.kills:
                self.kills = None
                self.kill_agent()
                self.start_agent()
            if now >= self.ends:
                self.finish()
        elif self.record["next"] < len(self.steps) and elapsed >= self.steps[self.record["next"]]["at"]:
            self.begin(now)
        if self.agent.poll() is not None and not (self.active and self.active.name() == "killed"):
            self.start_again(now)
        if now < self.retry_until and now >= self.next_retry:
            self.next_retry = now + 20
            if self.metric('starwatch_outbox_rows{state="dead"'):
                self.attempt("outbox retry", self.run, "outbox", "retry", "--all")

    def start_again(self, now):
        """Starts an agent that ended, as a service manager does: 5 s later if the fault explains it."""
        if self.agent.returncode in (1, 2) and self.may_refuse(now):
            if now - self.record["starts"][-1] >= 5:
                self.record["refused_starts"] = self.record.get("refused_starts", 0) + 1
                self.start_agent()
            return
        with open(self.folder / "agent.log") as file:
            log = file.read()[-2000:].splitlines()[-3:]
        self.complain(f"the agent exited with status {self.agent.returncode}: " + " / ".join(log)[-500:])
        self.start_agent()

    def may_refuse(self, now):
        """Whether a fault that lets a start fail lasts, or has just ended."""
        last = self.record["windows"][-1] if self.record["windows"] else None
        return last and KINDS[last["kind"]].can_refuse and (last["end"] is None or now - last["end"] < 30)

    def publish(self, now):
        """Publishes mostly nothing, sometimes a burst; one change in 5 s on average."""
        if now < self.next_publish or self.is_quiet:
            return
        self.next_publish = now + 5
        count = self.random.choice([0, 0, 0, 0, 1, 1, 2, 4])
        # The former build lists at most 100 changes of a notification.
        if self.random.random() < 0.002 and not self.record["former"]:
            count = 150
        if count:
            self.attempt("publish", replay.post, self.mock + "/mock/publish", {"count": count})


class Run:
    def __init__(self, folder, options, state):
        self.folder, self.options, self.state = folder, options, state
        self.values = state.values

    # Start

    def create(self):
        options = self.options
        steady = max(1, options.agents // 3)
        self.values |= {
            "seed": options.seed, "seconds": options.minutes * 60, "elapsed": 0, "begun": time.time(), "gaps": [],
            "bin_dir": str(options.bin_dir), "former_bin_dir": str(options.former_bin_dir or ""), "finished": False, "drained": False,
            "agents": [{"name": f"agent{number}", "seed": options.seed * 100 + number, "steady": number < steady,
                        "canonical": number % 2 == 1, "former": bool(options.former_bin_dir) and number >= steady,
                        "next": 0, "windows": [], "complaints": []} for number in range(options.agents)]}
        plans = plan.make(options.seed, self.values["seconds"], self.values["agents"], bool(options.former_bin_dir))
        (self.folder / "plan.json").write_text(json.dumps(plans, indent=1))
        self.members = self.make_members(plans)
        try:
            for member in self.members:
                member.folder.mkdir()
                member.start()
            self.children = Children()
            receiver = types.SimpleNamespace(url="http://127.0.0.1:9")
            settings = types.SimpleNamespace(plain=True, rules=RULES)
            self.values["prometheus"] = replay.start_prometheus(self.folder, self.members, settings, receiver, self.children)
        except BaseException:
            self.stop()
            raise
        self.values["children"] = self.children.saved()
        self.values["begun"] = time.time()
        self.state.save()

    def resume(self):
        self.members = self.make_members(json.loads((self.folder / "plan.json").read_text()))
        self.children = Children(self.values["children"])
        for child in self.children.all:
            if child.poll() is not None:
                raise SystemExit("soak: Prometheus has ended, so the run cannot be resumed. Start a new one.")
        for member in self.members:
            member.adopt()
        now = time.time()
        # The gates of the former script closed with it.
        self.values["gaps"].append([self.values["beat"], now])
        for member in self.members:
            windows = member.record["windows"]
            if windows and windows[-1]["end"] is None:
                member.active = member.fault_of(member.record["next"] - 1)
                windows[-1]["interrupted"] = True
                if windows[-1]["long"]:
                    # It is tried again.
                    member.record["next"] -= 1
                if member.agent.poll() is not None:
                    member.start_agent()
                member.finish()

    def look(self):
        """Finds the run's processes without a part in the run: its gates stay with the script that runs."""
        self.members = self.make_members(json.loads((self.folder / "plan.json").read_text()))
        self.children = Children(self.values["children"])
        for member in self.members:
            member.find()
            member.is_over = self.values["finished"]
        if self.values["finished"]:
            alarms.KEPT.update(json.loads((self.folder / "series.json").read_text()))

    def make_members(self, plans):
        members = [Member(self.folder / record["name"], self.options, record) for record in self.values["agents"]]
        for member, steps in zip(members, plans):
            member.prepare(steps, self.values["seed"])
        return members

    # Loop

    def go(self):
        begun = time.time() - self.values["elapsed"]
        saved = 0
        while (now := time.time()) - begun < self.values["seconds"]:
            self.values["elapsed"] = now - begun
            for member in self.members:
                member.attempt("step", member.follow, now, now - begun)
                member.publish(now)
            if now - saved > 5:
                saved = now
                self.state.save()
            time.sleep(max(0.05, now + 1 - time.time()))
        self.values["elapsed"] = self.values["seconds"]
        for member in self.members:
            if member.active:
                member.finish()
        self.state.save()
        self.drain()

    def drain(self):
        """Waits until every published change is acknowledged."""
        print("soak: no more changes; waiting until all have arrived", flush=True)
        end = time.time() + DRAIN_SECONDS
        while time.time() < end:
            for member in self.members:
                member.attempt("drain", member.follow, time.time(), 0)
                if member.metric('starwatch_outbox_rows{state="dead"'):
                    member.attempt("outbox retry", member.run, "outbox", "retry", "--all")
            self.state.save()
            if all(member.waiting() == 0 and member.has_all() for member in self.members):
                self.values["drained"] = True
                break
            time.sleep(5)
        for member in self.members:
            member.record["exit"] = member.agent.stop()

    def close(self):
        """Keeps what the report reads, and ends the processes."""
        (self.folder / "series.json").write_text(json.dumps(alarms.KEPT))
        self.stop()
        self.state.save()

    def stop(self):
        for member in self.members:
            for name in ("agent", "mock", "lock", "disks"):
                if name in member.processes:
                    member.processes[name].stop()
        if hasattr(self, "children"):
            self.children.stop()
