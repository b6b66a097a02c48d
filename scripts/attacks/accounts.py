"""Accounts that bring hostile addresses, files and receivers to an agent that serves many."""
import base64
import contextlib
import json
import selectors
import socket
import threading
import time

from . import control, world
from .world import PLAN, POLL, World, check, eventually, item, page, request, response, run

# The agent refuses DIDs with a wrong number of digits.
DIDS = [f"did:ethr:0x{number:040x}" for number in range(1, 1001)]
TOKEN = "0perators-t0ken"


class HangingHosts:
    """Receivers on ports of their own, which accept and never answer."""

    def __init__(self, count):
        self.selector = selectors.DefaultSelector()
        self.accepted = []
        self.listeners = [socket.create_server(("127.0.0.1", 0), backlog=64) for _ in range(count)]
        for listener in self.listeners:
            self.selector.register(listener, selectors.EVENT_READ)
        self.urls = [f"http://127.0.0.1:{listener.getsockname()[1]}/hook" for listener in self.listeners]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        with contextlib.suppress(OSError, ValueError):
            while True:
                for key, _ in self.selector.select():
                    self.accepted.append(key.fileobj.accept()[0])

    def close(self):
        for one in self.listeners + self.accepted:
            one.close()
        self.selector.close()


def fleet(world, server, sink, **sections):
    """An agent for many accounts, whose sink `hook` leaves its address to them."""
    world.write("master.key", base64.b64encode(bytes(range(32))).decode() + "\n")
    polls = {POLL: {"kind": POLL, "every": "2s", "bootstrap": "beginning", "group_interval": "1s"}}
    settings = {"accounts": "many", "security": {"master_key_file": str(world.path("master.key"))}, "polls": polls,
                "identity": {}, "delivery": {"sinks": [sink]}, "fleet": {"requests_per_second": 1000}} | sections
    config = world.config(server.url, **settings)
    agent = world.agent(config)
    return agent


def add(world, entries):
    lines = "\n".join(json.dumps(entry) for entry in entries)
    return run("accounts", "add", "--stdin", "--json", "--config", world.path("starwatch.yaml"), stdin=lines)


def entry(did, url, **address):
    return {"did": did, "stars": [PLAN], "sinks": {"hook": {"url": url} | address}}


def imports(category):
    """A file of `accounts export`, changed on its way."""
    chat = {"name": "hook", "kind": "webhook", "format": "telegram", "token_file": "t"}
    addresses = {
        "a url for a sink that has one": {"room": "1", "url": "http://127.0.0.1:9/steal"},
        "user and password": {"room": "1", "url": "http://u:p@127.0.0.1/"}, "a file": {"room": "1", "url": "file:///etc/passwd"},
        "every address": {"room": "1", "url": "http://0.0.0.0/"}, "a secret of its own": {"room": "1", "secret": "x"},
        "a room of two lines": {"room": "1\r\nX: y"},
    }
    with World() as world:
        world.write("t", TOKEN)
        server, config = world.server(), world.path("starwatch.yaml")
        agent = fleet(world, server, chat | {"token_file": str(world.path("t"))})
        check(add(world, [{"did": DIDS[0], "stars": [PLAN], "sinks": {"hook": {"room": "1"}}}]).returncode == 0, "accounts add")
        path = world.path("account.json")
        check(run("accounts", "export", DIDS[0], "--to", path, "--config", config).returncode == 0, "accounts export")
        bundle = json.loads(path.read_text())
        for name, address in addresses.items():
            with category.attempt(name):
                for table in bundle["tables"]:
                    if table["name"] == "account_sinks":
                        place = table["columns"].index("address")
                        table["rows"][0][place] = {"blob": base64.b64encode(json.dumps(address).encode()).decode()}
                changed = world.write("changed.json", json.dumps(bundle))
                result = run("accounts", "import", changed, "--undo", "--config", config)
                check(result.returncode == 1, f"exit {result.returncode}: {result.stdout}{result.stderr}")
                check("//" not in result.stderr + result.stdout, "it repeats the address")
        agent.survives()


def tokens(category):
    """The operator's token, with an address that the accounts bring."""
    for kind in ({"kind": "webhook", "format": "gotify"}, {"kind": "webhook", "format": "matrix"}, {"kind": "ntfy"}):
        with category.attempt(kind.get("format", "ntfy")), World() as world:
            world.write("master.key", base64.b64encode(bytes(32)).decode() + "\n")
            world.write("t", TOKEN)
            sink = {"name": "hook", "token_file": str(world.path("t"))} | kind
            config = world.config("http://127.0.0.1:1", accounts="many", identity={}, delivery={"sinks": [sink]},
                                  polls={POLL: {"kind": POLL, "every": "1h"}},
                                  security={"master_key_file": str(world.path("master.key"))})
            for command in ("check", "run"):
                result = run(command, "--config", config)
                check(result.returncode == 2 and "token_file" in result.stdout + result.stderr, f"{command}: {result.returncode}")


def hanging(category, accounts=1000):
    """Half of the receivers hang, each on a host of its own."""
    half = accounts // 2
    with category.attempt(f"{half} hosts that hang"), World() as world:
        hosts, server, good = HangingHosts(half), world.server(), world.server(response("{}"))
        world.ending.callback(hosts.close)
        agent = fleet(world, server, {"name": "hook", "kind": "webhook"})
        urls = [url for pair in zip(hosts.urls, [f"{good.url}/hook?{number}" for number in range(half)]) for url in pair]
        result = add(world, [entry(did, url) for did, url in zip(DIDS, urls)])
        check(json.loads(result.stdout)["added"] == accounts, result.stderr[-300:])
        listing = ("accounts", "list", "--limit", accounts, "--json", "--config", world.path("starwatch.yaml"))
        # The first visits are spread over a minute.
        check(eventually(lambda: all("last_success" in one for one in json.loads(run(*listing).stdout)), 120, 2), "not all were visited")
        for number in range(1, 4):
            before = good.count()
            server.default = page([item(number)])
            begin = time.monotonic()
            check(eventually(lambda: good.count() - before >= half, 60), f"{good.count() - before} of {half} told")
            category.measure("all others told after", time.monotonic() - begin, "s", 1)
            check(time.monotonic() - begin < 30, "they waited for those that hang")
        check(len(hosts.accepted) > half // 2, "the others were not tried")
        category.measure("memory", agent.memory() / 1e6, "MB")
        agent.survives()


def waits(category):
    """A `Retry-After` of a week, from one of two addresses on a host."""
    with category.attempt("Retry-After: 600000"), World() as world:
        told = []

        def answer(line, headers, body):
            if b"waits" in line:
                return response(headers="Retry-After: 600000\r\n", status="429 Too Many Requests")
            told.append(line)
            return response("{}")

        server, receiver = world.server(), world.server(answer)
        agent = fleet(world, server, {"name": "hook", "kind": "webhook"})
        add(world, [entry(DIDS[0], f"{receiver.url}/waits"), entry(DIDS[1], f"{receiver.url}/goes")])
        check(eventually(lambda: agent.metric("starwatch_poll_attempts_total") >= 2, 90), "not visited")
        for number in range(1, 4):
            server.default = page([item(number)])
            check(eventually(lambda: len(told) >= number, 20), f"{len(told)} of {number} told")
        config = world.path("starwatch.yaml")
        cleared = run("sinks", "clear-wait", "hook", "--account", DIDS[0], "--json", "--config", config)
        check(cleared.returncode == 0 and json.loads(cleared.stdout)["notifications"] > 0, cleared.stdout + cleared.stderr)


def additions(category):
    """Lines of `accounts add --stdin`."""
    with World() as world:
        agent = fleet(world, world.server(), {"name": "hook", "kind": "webhook"})
        with category.attempt("a line of 1.1 MB among ten"):
            entries = [entry(did, "https://a.test") for did in DIDS[:10]]
            entries[4]["stars"] = ["x" * 1_100_000]
            result = json.loads(add(world, entries).stdout)
            check(result["added"] == 9 and [one["line"] for one in result["refused"]] == [5], str(result)[:300])
        with category.attempt("another spelling of a DID"):
            spelling = "did:ethr:0x" + "0" * 38 + "ab"
            for did, added in ((spelling, 1), ("did:ethr:0x" + "0" * 38 + "AB", 0)):
                check(json.loads(add(world, [entry(did, "https://a.test")]).stdout)["added"] == added, did)
        agent.survives()


def feeds(category):
    """The addresses of accounts' feeds: guessed, former, and with the name of another account."""
    port = control.free_port()
    address = f"127.0.0.1:{port}"

    def get(path, **headers):
        return request(("127.0.0.1", port), "GET", path, headers={"Host": address} | headers)

    def path(word, did):
        result = run("feed", word, "--account", did, "--json", "--config", world.path("starwatch.yaml"))
        check(result.returncode == 0, result.stderr)
        return json.loads(result.stdout)["atom"].removeprefix(f"http://{address}")

    with World() as world:
        sections = {"control": {"socket": str(world.path("s.sock")), "listen": address, "token_file": str(world.write("t", TOKEN * 2))}}
        agent = fleet(world, world.server(), {"name": "feed", "kind": "feed"}, **sections)
        check(add(world, [{"did": did, "stars": [PLAN]} for did in DIDS[:2]]).returncode == 0, "accounts add")
        check(run("sinks", "test", "feed", "--account", DIDS[1], "--config", world.path("starwatch.yaml")).returncode == 0, "sinks test")
        former = path("url", DIDS[0])
        own, other = path("rotate", DIDS[0]), path("url", DIDS[1])
        unknown = get("/nothing")[2]
        with category.attempt("the name of another account in a header"):
            code, _, text = get(own, **{"Starwatch-Account": DIDS[1]})
            check(code == 200 and "<entry" not in text and "<entry" in get(other)[2], f"status {code}")
        token = own.split("/")[2]
        wrong = [former] + [own.replace(token, one) for one in (token[:-1], token + "0", token.upper(), "%00" + token, "..", "%27", "0" * 32)]
        for number, one in enumerate(wrong):
            with category.attempt(f"a wrong token, {number}"):
                code, _, text = get(one)
                check(code == 401 and text == unknown, f"status {code}")
        for one in (f"/feed/{token}", f"/feed/{token}/openapi.json", f"/feed/{token}/../../api/v1/accounts", "/feed.atom"):
            with category.attempt(f"the token elsewhere: {one.replace(token, '…')}"):
                code = get(one, Authorization=f"Bearer {token}")[0]
                check(code in control.refusals(401, 404), f"status {code}")
        with category.attempt("no token and no account in the log"):
            check(not any(one in agent.text() for one in (token, former.split("/")[2], *DIDS[:2])), "it has one")
        agent.survives()


ATTACKS = [
    ("Addresses in files of exported accounts", imports),
    ("The operator's token at an account's address", tokens),
    ("Receivers that hang, of half of 1,000 accounts", hanging),
    ("A wait that one account's receiver asks for", waits),
    ("Lines of accounts", additions),
    ("Addresses of accounts' feeds", feeds),
]
