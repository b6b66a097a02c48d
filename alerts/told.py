"""Checks alertmanager.example.yml: its syntax, its routes, and what is told of the alerts that fire together.

tests/told.txt lists the latter. A real Alertmanager decides, on a free port of 127.0.0.1 with a temporary folder. Used by
`alerts/check`.
"""

import json
import re
import socket
import subprocess
import tempfile
import time
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
CONFIGURATION = HERE / "alertmanager.example.yml"
CASES = HERE / "tests" / "told.txt"
RECEIVERS = {"critical": "page", "warning": "ticket", "info": "info", "none": "dead-mans-switch"}
TOPICS = {"account": "account"}


def read_cases():
    """Returns pairs of sets: the names of the alerts that fire, and of those that are told."""
    lines = [line for line in CASES.read_text().splitlines() if line and not line.startswith("#")]
    sides = [[{f"Starwatch{name}" for name in side.split()} for side in line.split("->")] for line in lines]
    return [tuple(side) for side in sides]


def configuration_complaints(alerts):
    """Checks the syntax, the routes, and that every name in the file is an alert's."""
    done = subprocess.run(["amtool", "check-config", CONFIGURATION], capture_output=True, text=True)
    if done.returncode:
        yield done.stderr.strip() or done.stdout.strip()
        return
    for rule in alerts:
        receiver = TOPICS.get(rule.fields.get("topic")) or RECEIVERS[rule.fields["severity"]]
        done = subprocess.run(
            ["amtool", "config", "routes", "test", f"--config.file={CONFIGURATION}", f"--verify.receivers={receiver}",
             *(f"{name}={value}" for name, value in labels(rule, "a:9464").items())],
            capture_output=True, text=True)
        if done.returncode:
            yield f"{rule.name} does not go to {receiver}: {(done.stdout + done.stderr).strip()}"
    names = {rule.name for rule in alerts}
    text = CONFIGURATION.read_text()
    for pattern in re.findall(r'alertname =~? "([^"]+)"', text):
        for part in alternatives(pattern):
            if not any(re.fullmatch(part, name) for name in names):
                yield f"{CONFIGURATION.name}: {part} is no alert"
    for firing, told in read_cases():
        for name in sorted((firing | told) - names):
            yield f"{CASES.name}: {name} is no alert"
        if not told <= firing:
            yield f"{CASES.name}: {', '.join(sorted(told - firing))} is told but does not fire"


def alternatives(pattern):
    """Returns the parts of `A|B` and of `Prefix(A|B).*`."""
    if found := re.fullmatch(r"(\w*)\(([^)]+)\)(.*)", pattern):
        return [found[1] + part + found[3] for part in found[2].split("|")]
    return pattern.split("|")


def labels(rule, instance):
    """Returns the labels that a rule's alert has: its description names them."""
    found = {"alertname": rule.name, "severity": rule.fields["severity"]}
    if found["severity"] != "none":
        found |= {"job": "starwatch", "instance": instance}
    if "topic" in rule.fields:
        found["topic"] = rule.fields["topic"]
    for name, value in {"poll": "starred_projects", "sink": "hook", "target": "hook", "kind": "full", "of": "port:http"}.items():
        if f"$labels.{name}" in rule.text.replace("\n", ""):
            found[name] = value
    return found


def differences(configuration, alerts):
    """Sends every case to an Alertmanager, each as an agent of its own. Returns where it tells something else."""
    by_name, cases = {rule.name: rule for rule in alerts}, read_cases()
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    url = f"http://127.0.0.1:{port}"
    with tempfile.TemporaryDirectory() as folder:
        # Nobody listens at the receivers' addresses; nothing is sent within the first minutes.
        path = Path(folder, "alertmanager.yml")
        path.write_text(re.sub(r"group_wait: \w+", "group_wait: 10m", configuration))
        process = subprocess.Popen(
            ["prometheus-alertmanager", f"--config.file={path}", f"--storage.path={folder}/data",
             f"--web.listen-address=127.0.0.1:{port}", "--cluster.listen-address="],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            wait_until_ready(url, process)
            sent = [{"labels": labels(by_name[name], f"agent-{number}")}
                    for number, (firing, _) in enumerate(cases) for name in sorted(firing)]
            request = urllib.request.Request(f"{url}/api/v2/alerts", json.dumps(sent).encode(),
                                             {"Content-Type": "application/json"})
            urllib.request.urlopen(request, timeout=10).read()
            found = answer(url, len(sent))
        finally:
            process.terminate()
            process.wait()
    problems = []
    for number, (firing, told) in enumerate(cases):
        if found.get(f"agent-{number}", set()) != told:
            names = lambda group: " ".join(sorted(name.removeprefix("Starwatch") for name in group)) or "nothing"
            problems.append(f"of {names(firing)}, {names(found.get(f'agent-{number}', set()))} is told, not {names(told)}")
    return problems


def wait_until_ready(url, process):
    for _ in range(300):
        if process.poll() is not None:
            raise SystemExit("check: Alertmanager did not start")
        try:
            urllib.request.urlopen(f"{url}/-/ready", timeout=5).read()
            return
        except OSError:
            time.sleep(0.1)
    raise SystemExit("check: Alertmanager is not ready after 30 s")


def answer(url, count):
    """Returns the names of the alerts that are told, by agent, once Alertmanager has all and its answer is stable."""
    answers = []
    for _ in range(100):
        alerts = json.loads(urllib.request.urlopen(f"{url}/api/v2/alerts", timeout=10).read())
        told = {}
        for alert in alerts:
            if alert["status"]["state"] == "active":
                told.setdefault(alert["labels"]["instance"], set()).add(alert["labels"]["alertname"])
        answers.append(told)
        if len(alerts) == count and answers[-3:] == [told] * 3:
            return told
        time.sleep(0.5)
    raise SystemExit("check: Alertmanager does not settle")


def mutants(configuration):
    """Returns the file without one of its inhibition rules, for each rule."""
    head, *rules = re.split(r"(?m)^(?=  - source_matchers: ?)", configuration)
    for number, rule in enumerate(rules):
        name = " ".join(rule.split())[:100]
        yield f"without {name}", head + "".join(rules[:number] + rules[number + 1 :])


def complaints(alerts, with_mutants):
    found = list(configuration_complaints(alerts))
    if found:
        return found, 0
    text = CONFIGURATION.read_text()
    found = differences(text, alerts)
    count = 0
    if with_mutants and not found:
        work = list(mutants(text))
        count = len(work)
        with ThreadPoolExecutor(max_workers=2) as pool:
            results = pool.map(lambda mutant: differences(mutant[1], alerts), work)
        found = [f"survivor: {name}" for (name, _), result in zip(work, results) if not result]
    return found, count
