"""Evaluates every query on a time of the agent for three agents: one with Prometheus's clock, one 6 h ahead, one 6 h behind.

The rules, the dashboards with their annotations, and the runbooks must give the same values for all three. Used by
`alerts/check`.
"""

import json
import os
import re
import subprocess
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
RULES = HERE / "starwatch.rules.yml"
DASHBOARDS = HERE.parent / "dashboards"
CLOCKS = {"right": 0, "ahead": 21600, "behind": -21600}
# The queries are evaluated 16 hours after the first sample, at this second of Prometheus's clock.
NOW = 57600
# Others wrote these times: the server, the issuer of the token, and the authority of the certificate.
FROM_ELSEWHERE = {
    "starwatch_fetch_cursor_timestamp_seconds", "starwatch_watermark_timestamp_seconds",
    "starwatch_token_expiry_timestamp_seconds", "starwatch_certificate_expiry_timestamp_seconds",
}
# This series is the difference itself.
OFFSET = "starwatch:clock_offset:seconds"
TIME = re.compile(r"\b(?:starwatch_\w+_timestamp_seconds|process_start_time_seconds|starwatch:problem:since_timestamp_seconds)\b"
                  r"|\btime\(\)")
VARIABLES = {"__rate_interval": "5m", "__range": "6h", "__from": "0", "job": ".+", "cluster": ".*", "poll": ".+"}

# What each agent exports: the times by its own clock, as seconds before NOW, and as `+60` if they follow it.
TIMES = {
    "starwatch_clock_local_timestamp_seconds": (0, 60),
    "starwatch_clock_last_sync_timestamp_seconds": (20000, 0),
    "starwatch_config_last_reload_success_timestamp_seconds": (7000, 0),
    "starwatch_fleet_oldest_due_timestamp_seconds": (5000, 0),
    "starwatch_key_created_timestamp_seconds": (8000000, 0),
    "starwatch_outbox_oldest_dead_timestamp_seconds": (9000, 0),
    "starwatch_outbox_oldest_due_timestamp_seconds": (14000, 0),
    "starwatch_outbox_oldest_pending_timestamp_seconds": (15000, 0),
    "starwatch_canary_last_arrival_timestamp_seconds": (6000, 0),
    "starwatch_throttle_until_timestamp_seconds": (-300, 0),
    "process_start_time_seconds": (30000, 0),
    'starwatch_poll_last_attempt_timestamp_seconds{poll="fresh"}': (30, 60),
    'starwatch_poll_last_attempt_timestamp_seconds{poll="old"}': (40, 60),
    'starwatch_poll_last_success_timestamp_seconds{poll="fresh"}': (30, 60),
    'starwatch_poll_last_success_timestamp_seconds{poll="old"}': (25000, 0),
    'starwatch_poll_next_run_timestamp_seconds{poll="fresh"}': (-20, 60),
    'starwatch_problem_since_timestamp_seconds{problem="held"}': (4000, 0),
    'starwatch_problem_until_timestamp_seconds{problem="held"}': (-4000, 0),
    'starwatch_sink_last_success_timestamp_seconds{sink="hook"}': (500, 60),
}
# What does not depend on the agent's clock.
OTHERS = {
    "up": "1+0x960",
    "starwatch_build_info": "1+0x960",
    "starwatch_token_expiry_timestamp_seconds": f"{NOW + 50000}+0x960",
    "starwatch_token_pool_remaining": "1+0x960",
    'starwatch_certificate_expiry_timestamp_seconds{of="port:http"}': f"{NOW + 900000}+0x960",
    'starwatch_certificate_expiry_timestamp_seconds{of="hook"}': f"{NOW - 900}+0x960",
    'starwatch_web_config_last_reload_successful{port="http"}': "1+0x960",
    'starwatch_fetch_cursor_timestamp_seconds{poll="fresh"}': f"{NOW - 60}+0x960",
    'starwatch_watermark_timestamp_seconds{poll="fresh"}': f"{NOW - 90}+0x960",
    'starwatch_poll_stale_after_seconds{poll="fresh"}': "14400+0x960",
    'starwatch_poll_stale_after_seconds{poll="old"}': "14400+0x960",
    'starwatch_poll_interval_seconds{poll="fresh"}': "60+0x960",
    'starwatch_poll_interval_seconds{poll="old"}': "60+0x960",
    'starwatch_problem_info{problem="held",reason="rate_limit",severity="warning",command="c",runbook="R"}': "1+0x960",
    'starwatch_circuit_state{target="server"}': "0+0x960",
    'starwatch_circuit_state{target="hook"}': "2+0x960",
    'starwatch_sink_disabled{sink="hook"}': "0+0x960",
    'starwatch_log_redactions_total{kind="did"}': "0+0x952 1000+0x9",
    'starwatch_poll_skipped_total{poll="old",reason="no_token"}': "0+0x940 1+1x20",
    'starwatch_poll_failure_reasons_total{poll="old",reason="timeout"}': "0+0x940 1+1x20",
    'starwatch_delivery_failures_total{sink="hook",reason="timeout"}': "0+0x940 1+1x20",
    'starwatch_control_requests_total{operation="reload",result="ok"}': "0+0x958 1+0x9",
    'starwatch_outbox_rows{state="pending"}': "3+0x960",
    "starwatch_rate_limit_remaining": "7+0x960",
}


def queries(rules):
    """Returns pairs of a place and a query, for each query that reads a time."""
    found = [(rule.name, " ".join(expression(rule).split())) for rule in rules if rule.name != OFFSET]
    for path in sorted(DASHBOARDS.glob("*.json")):
        dashboard = json.loads(path.read_text())
        panels = [inner for panel in dashboard["panels"] for inner in [panel, *panel.get("panels", [])]]
        found += [(f"{path.name} #{panel['id']} {panel.get('title')}, {target['refId']}", target["expr"])
                  for panel in panels for target in panel.get("targets", [])]
        found += [(f"{path.name}, {line['name']}", line["expr"]) for line in dashboard["annotations"]["list"] if "expr" in line]
    for path in sorted((HERE / "runbooks").glob("*.md")):
        blocks = re.findall(r"In Prometheus[^\n]*:\n\n```\n(.*?)```", path.read_text(), re.S)
        found += [(f"runbooks/{path.name}", line) for block in blocks for line in block.splitlines() if line]
    return [(place, query) for place, query in found if TIME.search(query)]


def expression(rule):
    """Returns the expression of a rule without the block's mark and the quotes of YAML."""
    return rule.text[slice(*rule.expr)].removeprefix("|").strip().strip("'")


def series():
    """Returns the input of the test."""
    lines = []
    for clock, shift in CLOCKS.items():
        values = dict(OTHERS)
        for name, (age, step) in TIMES.items():
            values[name] = f"{shift - age + (0 if step else NOW)}+{step}x960"
        for name, value in values.items():
            family, _, labels = name.rstrip("}").partition("{")
            labels = ",".join(filter(None, ['job="starwatch"', f'instance="{clock}"', labels]))
            lines.append(f"      - series: '{family}{{{labels}}}'\n        values: '{value}'\n")
    return "".join(lines)


def filled(query, clock):
    """Returns the query for one of the agents."""
    query = re.sub(r"\$\{?(\w+)\}?", lambda match: {**VARIABLES, "instance": clock}.get(match[1], match[0]), query)
    # A query of a rule or a runbook has no variable, so its result is filtered.
    return query if f'instance=~"{clock}"' in query else f'({query}) and on (instance) up{{instance="{clock}"}}'


def results(places):
    """Returns the samples of each query, without the instance, for each of the clocks."""
    expressions = [filled(query, clock) for _, query in places for clock in CLOCKS]
    tests = "".join(f"      - expr: {json.dumps(expression)}\n        eval_time: {NOW}s\n        exp_samples:\n"
                    f"          - labels: '{{none=\"{number}\"}}'\n            value: 0\n"
                    for number, expression in enumerate(expressions))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "test.yml")
        path.write_text(f"rule_files: [{RULES}]\nevaluation_interval: 1m\ngroup_eval_order: [starwatch-recording]\ntests:\n"
                        f"  - interval: 1m\n    input_series:\n{series()}    promql_expr_test:\n{tests}")
        environment = {**os.environ, "TMPDIR": folder}
        done = subprocess.run(["promtool", "test", "rules", path], capture_output=True, text=True, env=environment)
    output = done.stdout + done.stderr
    found = {}
    for number, text in re.findall(r'exp: \{none="(\d+)"\}[^\n]*\n\s*got: ([^\n]*)', output):
        samples = [] if text == "nil" else re.split(r", (?=\{|[\w:]+\{)", text)
        found[int(number)] = sorted(re.sub(r'instance="\w+"(?:, )?', "", sample) for sample in samples)
    if len(found) != len(expressions):
        raise SystemExit("check: promtool does not evaluate the queries of clocks.py:\n" + output[:3000])
    return [[found[3 * index + clock] for clock in range(3)] for index in range(len(places))]


def complaints(rules, catalogue):
    """Returns the places whose values depend on the agent's clock, and the number of queries."""
    problems = []
    if catalogue:
        known = {name.partition("{")[0] for name in TIMES} | FROM_ELSEWHERE
        times = {name for name in catalogue if name.endswith("_timestamp_seconds")}
        problems += [f"clocks.py does not say whose time {name} is" for name in sorted(times - known)]
    places = queries(rules)
    for (place, query), (right, ahead, behind) in zip(places, results(places)):
        if not right and re.search(r"time\(\)|_local_timestamp_|:clock_offset:", query):
            problems.append(f"{place}: no result to compare")
        elif not right == ahead == behind:
            problems.append(f"{place} depends on the agent's clock: {right} is {ahead} 6 h ahead, and {behind} 6 h behind")
        if "time()" in query and OFFSET not in needed(query, rules) and not set(re.findall(r"starwatch_\w+", query)) <= ELSEWHERE:
            problems.append(f"{place} compares a time of the agent with time(), without {OFFSET}")
    return problems, len(places)


ELSEWHERE = FROM_ELSEWHERE | {"starwatch_token_pool_remaining"}


def needed(query, rules):
    """Returns the names of the recordings that a query reads, directly or through another one."""
    texts, found, todo = {rule.name: expression(rule) for rule in rules}, set(), [query]
    while todo:
        for name in set(re.findall(r"starwatch:[\w:]+", todo.pop())) - found:
            found.add(name)
            todo.append(texts.get(name, ""))
    return found
