"""Personal data and secrets where they do not belong, and text that controls a terminal or forges lines."""
import json
import os
import pathlib
import re

from .control import TOKEN, free_port
from .world import AUTHOR, DID, PLAN, POLL, World, check, eventually, exchange, item, page, response, run

SECRET = "CANARYSECRET0123456789abcdefghij"
NAME = "Canary Garden of Alice"
ESCAPES = ["\x1b[2J", "\x1b]0;owned\x07", "\x1b]52;c;Y2FuYXJ5\x07", "\x9b31m", "\x07", "\x08\x08\x08", "\r\nforged: line", "\x00", "\x7f", "\x1bP+q\x1b\\", "\u2028", "\u202e\u2066txt",
           '\n{"event":"forged"}', "\x1b[8m", "\x85"]
CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")
# JSON for programs and HTML can contain the others.
LOW = re.compile("[\x00-\x08\x0b-\x1f]")
COMMANDS = ["status", "status --json", "outbox list", "outbox list --json", "stars list", "stars list --json", "logs", "logs --json", "explain 1", "quarantine list", "notifications list",
            "notifications list --json", "digests list", "identity show", "keys list", "config print", "config print --json", "check", "doctor", "metrics catalogue", "next-runs " + POLL]


def canaries(category):
    with World() as world:
        secret, token = world.write("shared.secret", SECRET), world.write("token.secret", TOKEN)
        hook = world.write("hook.secret", "CANARYHOOKSECRET0123456789")
        server = world.server(page([item(1, NAME)]))
        port = free_port()
        sinks = [{"name": "hook", "kind": "webhook", "url": f"{server.url}/CANARYPATH?token=CANARYQUERY", "secret_file": str(hook)}, {"name": "log", "kind": "log"},
                 {"name": "refused", "kind": "command", "argv": ["/bin/sh", "-c", "echo CANARYOUTPUT; echo CANARYERRORS >&2; exit 3"]}]
        config = world.config(server.url, auth={"kind": "shared_secret", "secret_file": str(secret)}, delivery={"sinks": sinks, "group_interval": "1s"},
                              control={"socket": str(world.path("s.sock")), "listen": f"127.0.0.1:{port}", "token_file": str(token)}, log={"level": "trace"})
        hex_text = "".join(f"\\u{ord(letter):04x}" for letter in DID)
        spellings = [DID, DID.lower(), DID.replace(":", "%3A"), hex_text, DID.replace(":", "&#58;"), DID.replace("0x", "0x\u200b"), PLAN, PLAN.rsplit("/", 1)[1], SECRET, "eyJhbGciOiJub25lIn0.CANARYT0KEN.x"]
        server.script = [response(json.dumps({"error": f"no user {text}, Bearer CANARYBEARER"}), f"X-Request-ID: {DID}\r\n", code) for text in spellings for code in ("400 X",)]
        agent = world.agent()
        for _ in spellings:
            agent.poll()
            agent.control("POST", "/api/v1/server/clear-wait")
        eventually(lambda: agent.poll()["outcome"] in ("changed", "unchanged"), 20, 0.3)
        eventually(lambda: any("CANARYPATH" in line for line, _, _ in server.requests), 20)
        places = {path: agent.get(path)[2] for path in ("/metrics", "/", "/api/v1/status", "/-/healthy", "/-/ready", "/help", "/help/runbooks", f"/{DID}", f"/api/v1/{DID}", "/nothing")}
        places |= {f"/help/runbooks/{name}": agent.get(f"/help/runbooks/{name}")[2] for name in ("StarwatchAgentDown", "StarwatchCredentialsRefused", "StarwatchPollFailing")}
        places["OpenMetrics"] = agent.get("/metrics", {"Accept": "application/openmetrics-text"})[2]
        for path in ("/", "/api/v1/explain/1", "/explain?id=1", "/api/v1/logs", f"/api/v1/explain/{DID}", f"/api/v1/outbox/{DID}", f"/api/v1/outbox?{DID}=1"):
            places["socket " + path] = agent.control("GET", path)[2]
        places["a wrong token"] = exchange(("127.0.0.1", port), f"GET / HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {SECRET}\r\nConnection: close\r\n\r\n")
        places["a wrong body"] = agent.control("POST", "/api/v1/identity/erase", json.dumps({"did": "did:x:CANARYDID", "CANARYKEY": 1}))[2]
        for command in ("status", "status --json", "config print", "config print --json", "check", "doctor", "logs", "logs --json", "explain 1", "outbox show 99999", "--version --verbose"):
            result = run(*command.split(), *([] if "version" in command else ["--config", config]))
            places[f"starwatch {command}"] = result.stdout + result.stderr
        for command in ("--help", "run --help", "init --help", "keys --help", "config --help", "config default", "config reference"):
            places[f"starwatch {command}"] = run(*command.split()).stdout
        places["the process' command line"] = pathlib.Path(f"/proc/{agent.pid}/cmdline").read_text()
        places["the process' environment"] = pathlib.Path(f"/proc/{agent.pid}/environ").read_text(errors="replace")
        check(agent.stop() == 0, "the agent does not end well")
        places["log"] = agent.text()
        tokens = {headers["authorization"].split(" ")[-1] for _, headers, _ in server.requests if headers.get("authorization")}
        check(tokens, "no token was sent")
        words = {SECRET, TOKEN, NAME, DID, DID.lower(), AUTHOR, AUTHOR.lower(), PLAN, PLAN.rsplit("/", 1)[1], "CANARYHOOKSECRET", "CANARYPATH", "CANARYQUERY", "CANARYOUTPUT", "CANARYERRORS", "CANARYBEARER", "CANARYT0KEN",
                 "CANARYDID", "CANARYKEY", "aFeDaDa00000", "aFeBaBa00000", item(1)["planSummary"]["jwtId"]} | {part for token in tokens for part in token.split(".")[1:]}
        # The operator's own text is for the operator.
        own = {"starwatch config print": {DID, DID.lower(), PLAN, PLAN.rsplit("/", 1)[1], "aFeDaDa00000"}}
        own["starwatch config print --json"] = own["starwatch config print"]
        for place, text in places.items():
            check(text, f"{place} is empty")
            for word in words - own.get(place, set()):
                with category.attempt(f"{word[:20]} in {place}"):
                    check(word not in text, "it is there")
        with category.attempt("the test can fail: the webhook has the name"):
            check(any(NAME.encode() in body for _, _, body in server.requests), "it has not")
    for command in (("identity", "set", "did:x:" + "CANARY" * 40), ("stars", "set", "CANARY\x1b[2J"), ("poll", "CANARY\x1b[2J"), ("outbox", "show", "CANARY\x1b[2J"), ("check", "--config", "/CANARY\x1b[2J"),
                    ("CANARY\x1b[2J",), ("--CANARY\x1b[2J",), ("explain", "\x1b[2J"), ("deeplink", "x:\x1b[2J"), ("logs", "--since", "\x1b[2J"), ("next-runs", "\x1b[2J"), ("sinks", "test", "\x1b[2J")):
        with category.attempt(f"escapes in the arguments of {command[0][:10]!r}"):
            result = run(*command)
            check(result.returncode != 0 and not CONTROL.search(result.stdout + result.stderr), f"it prints {(result.stdout + result.stderr)[:80]!r}")


def terminals(category):
    """Names with escapes, through every command, page and file, and log lines that are forged by them."""
    with World() as world:
        names = [f"Canary{text}Garden" for text in ESCAPES]
        server = world.server(page([item(number, name, description=name, url=name) for number, name in enumerate(names, 1)]))
        sinks = [{"name": "log", "kind": "log"}, {"name": "out", "kind": "stdout"}, {"name": "feed", "kind": "feed"}, {"name": "f", "kind": "file", "path": str(world.path("out"))}]
        config = world.config(server.url, delivery={"sinks": sinks, "group_interval": "1s"})
        agent = world.agent()
        check(eventually(lambda: agent.poll()["outcome"] in ("changed", "unchanged")), "no poll")
        check(eventually(lambda: world.path("out").exists() and world.path("out").stat().st_size), "no notification")
        for text in ESCAPES:
            server.script = [response(json.dumps({"error": {"code": text, "message": text}, "message": text}), f"X-Request-ID: {text.encode('ascii', 'ignore').decode()!r}\r\n", "400 X")]
            agent.poll()
            agent.control("POST", "/api/v1/server/clear-wait")
        for command in COMMANDS:
            with category.attempt(f"control characters in starwatch {command}"):
                result = run(*command.split(), "--config", config) if command != "metrics catalogue" else run("metrics", "catalogue")
                found = CONTROL.search(result.stdout + result.stderr)
                check(not found, f"it prints {found and found[0]!r}")
                check("\nforged" not in result.stdout, "a forged line")
        for path in ("/metrics", "/", "/explain?id=1", "/api/v1/status", "/api/v1/outbox", "/api/v1/notifications", "/api/v1/logs", "/api/v1/stars"):
            with category.attempt(f"control characters in {path}"):
                text = agent.control("GET", path)[2]
                check(not LOW.search(text), f"it has some: {LOW.search(text + chr(0))[0]!r}")
        agent.stop()
        for number, line in enumerate(agent.text().split("\n")[:-1]):
            with category.attempt(f"line {number} of the log and standard output", counts=number < 100):
                # The sink `stdout` writes text.
                entry = json.loads(line) if line.startswith("{") else {}
                check(isinstance(entry, dict) and entry.get("event") != "forged" and not CONTROL.search(line), f"{line[:80]!r}")
                check(not line.startswith("forged"), f"{line[:80]!r}")
        for number, line in enumerate(world.path("out").read_text().split("\n")[:-1]):
            with category.attempt(f"line {number} of the sink's file"):
                check(json.loads(line)["id"].startswith("ntf_") and not LOW.search(line), f"{line[:80]!r}")


def environments(category):
    """What the programs of sinks and of `auth.argv` and `security.master_key_command` inherit."""
    allowed = re.compile(r"^(PATH|HOME|LANG|TZ|TMPDIR|USER|LOGNAME|LC_\w+|PWD|SHLVL|_)=")
    hostile = {"AWS_SECRET_ACCESS_KEY": "CANARY", "CREDENTIALS_DIRECTORY": "/CANARY", "PYTHONPATH": "/CANARY", "BASH_ENV": "/CANARY", "NOTIFY_SOCKET": "/CANARY", "STARWATCH_CONFIG": "/CANARY", "HTTP_PROXY": "http://CANARY",
               "https_proxy": "http://127.0.0.1:9", "ALL_PROXY": "http://127.0.0.1:9", "CURL_HOME": "/CANARY", "IFS": "C", "ENV": "/CANARY", "GIT_SSH_COMMAND": "CANARY", "PERL5OPT": "-CANARY"}
    with World() as world:
        server = world.server(page([item(1, NAME)]))
        dump = lambda name: ["/bin/sh", "-c", f"env > {world.path(name)}; ls -l /proc/self/fd > {world.path(name + '.fd')}; cat > /dev/null; echo token"]  # noqa: E731
        key = run("keys", "init", "--file", world.path("master.key"))
        check(key.returncode == 0, key.stderr)
        master = ["/bin/sh", "-c", f"env > {world.path('key.env')}; cat {world.path('master.key')}"]
        world.config(server.url, auth={"kind": "command", "argv": dump("auth.env")}, security={"master_key_command": master},
                     delivery={"sinks": [{"name": "c", "kind": "command", "argv": dump("sink.env")}], "group_interval": "1s"})
        agent = world.agent(environment=os.environ | hostile)
        agent.poll()
        for name in ("sink.env", "auth.env", "key.env"):
            check(eventually(lambda: world.path(name).exists() and world.path(name).stat().st_size), f"no {name}")
            lines = world.path(name).read_text().splitlines()
            for variable in hostile:
                with category.attempt(f"{variable} in {name}"):
                    check(not any(line.startswith(variable + "=") for line in lines), "it is inherited")
            with category.attempt(f"others in {name}"):
                others = [line.split("=")[0] for line in lines if not allowed.match(line)]
                check(not others, f"inherited: {others}")
        for name in ("sink.env.fd", "auth.env.fd"):
            with category.attempt(f"descriptors in {name}"):
                text = world.path(name).read_text()
                check(not re.search(r"starwatch\.db|socket:|s\.sock|\.lock", text), f"inherited: {text[-200:]}")
        with category.attempt("the environment's proxy is not used"):
            check(server.count() > 0, "no request came")
        agent.stop()
        with category.attempt("no canary is logged"):
            check("CANARY" not in agent.text(), re.search(".{0,80}CANARY.{20}|$", agent.text())[0])


ATTACKS = [("Personal data and secrets", canaries), ("Control characters and forged lines", terminals), ("Environment of programs", environments)]
