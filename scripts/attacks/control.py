"""Tokens, names in Host, and pages of other origins."""
import json
import re
import socket
import time

from .world import POLL, World, check, exchange, request, run

TOKEN = "CANARYT0KEN-0123456789abcdef"
EVIL = ("evil.example", "evil.example:80", "127.0.0.1.evil.example", "localhost.evil.example", "[evil.example]", "256.0.0.1",
        "[::1].evil.example", "127.0.0.1@evil.example", "evil.example@127.0.0.1", "1.2.3", "0x7f.1", "127.1", "localhost,evil",
        "LOCALHOST.evil", "xn--lcalhost-2ze.example", "local host", "evil.example.")


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


# A refusal, or one of a client that was refused often. All addresses of 127.0.0.0/8 are one client, so most attempts get the
# latter. A right token is let in all the same, so both prove that the attempt had none.
def refusals(*codes):
    return (*codes, 429)


class Port:
    """The control port."""

    def __init__(self, port):
        self.port = port

    def exchange(self, data, source="127.0.0.1"):
        received = b""
        with socket.create_connection(("127.0.0.1", self.port), 10, (source, 0)) as connection:
            connection.sendall(data.encode("latin-1"))
            try:
                while piece := connection.recv(65536):
                    received += piece
            except (TimeoutError, ConnectionError):
                pass
        return received.decode("latin-1")


def status(text):
    return int(text[9:12]) if text.startswith("HTTP/1.1 ") else 0


def get(target="/api/v1/status", headers="", host="Host: localhost\r\n", method="GET", version="1.1"):
    return f"{method} {target} HTTP/{version}\r\n{host}{headers}Connection: close\r\n\r\n"


def with_tcp(world, token=TOKEN):
    """An agent with a control port; returns it with the port."""
    port = free_port()
    token_file = world.write("token.secret", token)
    world.config(world.server().url, control={"socket": str(world.path("s.sock")), "listen": f"127.0.0.1:{port}",
                                              "token_file": str(token_file)})
    return world.agent(), Port(port)


def tokens(category):
    for length in (1, 8, 15):
        with category.attempt(f"a token of {length} bytes"), World() as world:
            token_file = world.write("token.secret", "t" * length)
            control = {"socket": str(world.path("s.sock")), "listen": f"127.0.0.1:{free_port()}", "token_file": str(token_file)}
            result = run("check", "--config", world.config("http://127.0.0.1:1", control=control))
            check(result.returncode == 2, "it is accepted")
    with World() as world:
        agent, control = with_tcp(world)
        wrong = ["", "Bearer", "Bearer ", f"Bearer {TOKEN[:-1]}", f"Bearer {TOKEN}x", f"Bearer {TOKEN.lower()}", f"Basic {TOKEN}",
                 f"Bearer  {TOKEN} {TOKEN}", f"Token {TOKEN}", f"Bearer {TOKEN}\t.", f"Bearer\x0b{TOKEN}", "Bearer " + "x" * 30_000,
                 f"Bearer {TOKEN}\xff", "Bearer null", "Bearer undefined", f"Digest {TOKEN}", f"Bearer,{TOKEN}"]
        for value in wrong:
            with category.attempt(f"Authorization: {value[:40]!r}"):
                code = status(control.exchange(get(headers=f"Authorization: {value}\r\n" if value else "")))
                check(code in refusals(400, 401), f"status {code}")
        elsewhere = [("a cookie", get(headers=f"Cookie: token={TOKEN}; Authorization=Bearer {TOKEN}\r\n")),
                     ("the query", get(f"/api/v1/status?token={TOKEN}&access_token={TOKEN}")),
                     ("the user in the target", get(f"http://{TOKEN}@localhost/api/v1/status")),
                     ("Proxy-Authorization", get(headers=f"Proxy-Authorization: Bearer {TOKEN}\r\n")),
                     ("X-Authorization", get(headers=f"X-Authorization: Bearer {TOKEN}\r\nX-Api-Key: {TOKEN}\r\n")),
                     ("two headers, one wrong", get(headers=f"Authorization: Bearer x\r\nAuthorization: Bearer {TOKEN}\r\n"))]
        for name, data in elsewhere:
            with category.attempt(f"the token in {name}"):
                code = status(control.exchange(data))
                check(code in refusals(400, 401, 403), f"status {code}")
        paths = sorted(json.loads(agent.control("GET", "/api/v1/openapi.json")[2])["paths"])
        for path in paths + ["/", "/metrics", "/-/healthy", "/-/ready", "/feed", "/explain", "/help", "/nothing"]:
            for method in ("GET", "POST", "PUT", "DELETE", "HEAD", "OPTIONS"):
                with category.attempt(f"{method} {path} without a token"):
                    code = status(control.exchange(get(re.sub(r"\{\w+\}", "1", path), method=method)))
                    check(code in refusals(401), f"status {code}")
        agent.survives()
    guesses(category)


def guesses(category):
    """Many wrong tokens from one client, and the right one beside them."""
    right = get(headers=f"Authorization: Bearer {TOKEN}\r\n")
    with World() as world:
        agent, control = with_tcp(world)
        before = agent.metric("starwatch_control_refused_total")
        lines, cpu = agent.text().count("\n"), agent.cpu()
        for number in range(300):
            with category.attempt(f"guess {number} from one client", counts=number < 20):
                answer = control.exchange(get(headers=f"Authorization: Bearer guess{number}\r\n"), f"127.0.99.{number % 9 + 1}")
                check(status(answer) == (401 if number < 10 else 429), f"status {status(answer)}")
                check(number < 10 or "retry-after" in answer.lower(), "no Retry-After")
        with category.attempt("the right token beside the guesses"):
            check(status(control.exchange(right, "127.0.99.1")) == 200, "refused")
        with category.attempt("refusals are counted"):
            counted = agent.metric("starwatch_control_refused_total") - before
            check(counted == 300, f"{counted:.0f} of 300")
        with category.attempt("refusals are logged, and folded"):
            new = agent.text().count("\n") - lines
            check("control.refused" in agent.text() and new <= 40, f"{new} lines for 300 guesses")
            category.measure("log lines for 300 guesses", new, "lines")
        with category.attempt("the token is in no answer and no log"):
            check(TOKEN not in agent.text() and "guess" not in agent.text(), "the log has it")
        category.measure("CPU for a guess", (agent.cpu() - cpu) / 300 * 1000, "ms", 2)
        agent.survives()


def hosts(category):
    def attack(place, exchange):
        def one(name, data, expected=(403,)):
            if expected != (200,) and place != "socket":
                expected = refusals(*expected)
            with category.attempt(f"{place}: {name}"):
                code = status(exchange(data))
                check(code in expected, f"status {code}")
        for name in EVIL:
            one(f"Host {name}", get(host=f"Host: {name}\r\n"), (400, 403))
        one("no Host", get(host=""), (400, 403))
        one("an empty Host", get(host="Host:\r\n"), (400, 403))
        one("two Hosts", get(host="Host: localhost\r\nHost: evil.example\r\n"), (400, 403))
        one("two Hosts, the evil first", get(host="Host: evil.example\r\nHost: localhost\r\n"), (400, 403))
        one("an absolute target with an evil Host", get("http://localhost/api/v1/status", host="Host: evil.example\r\n"))
        one("X-Forwarded-Host does not replace Host", get(headers="X-Forwarded-Host: localhost\r\n", host="Host: evil.example\r\n"))
        one("Forwarded does not either", get(headers="Forwarded: host=localhost\r\n", host="Host: evil.example\r\n"))
        one("HTTP/1.0 with an evil Host", get(host="Host: evil.example\r\n", version="1.0"))
        for name in ("localhost", "127.0.0.1:1", "[::1]", "LOCALHOST:9464"):
            one(f"our own {name}", get(host=f"Host: {name}\r\n"), (200,))

    with World() as world:
        agent, control = with_tcp(world)
        attack("socket", lambda data: exchange(agent.socket, data))
        attack("read-only port", lambda data: exchange(("127.0.0.1", agent.ports()[0]), data))
        bearer = f"Authorization: Bearer {TOKEN}\r\n"
        attack("control port", lambda data: control.exchange(data.replace("Connection: close", bearer + "Connection: close")))
        agent.survives()


def origins(category):
    with World() as world:
        agent, control = with_tcp(world)
        foreign = ("https://evil.example", "null", "http://localhost:1", "https://localhost", "http://localhost.evil.example",
                   "http://127.0.0.1:1", "file://", "http://evil.example, http://localhost", "HTTP://EVIL.EXAMPLE", "chrome-extension://x")
        bearer = f"Authorization: Bearer {TOKEN}\r\n"
        targets = (f"/api/v1/polls/{POLL}/run", "/api/v1/reload", "/api/v1/outbox/discard", "/api/v1/identity/erase", "/api/v1/keys/rotate")
        before = agent.text().count("config.reloaded")
        for origin in foreign:
            for target in targets:
                headers = f"Origin: {origin}\r\nContent-Type: text/plain\r\nContent-Length: 0\r\n"
                # A proxy can add TLS to the socket.
                if origin != "https://localhost":
                    with category.attempt(f"POST {target} on the socket from {origin}"):
                        code = status(exchange(agent.socket, get(target, headers, method="POST")))
                        check(code == 403, f"status {code}")
                with category.attempt(f"POST {target} on the control port from {origin}"):
                    code = status(control.exchange(get(target, headers + bearer, method="POST")))
                    check(code in refusals(403), f"status {code}")
        with category.attempt("nothing was done"):
            check(agent.text().count("config.reloaded") == before, "a reload")
        for target in ("/", "/api/v1/status", "/api/v1/stars", "/metrics"):
            with category.attempt(f"{target} permits no other origin to read"):
                answer = exchange(agent.socket, get(target)).lower()
                check("access-control-allow" not in answer and "set-cookie" not in answer, "it does")
        for method in ("POST", "PUT", "DELETE", "PATCH"):
            for target in ("/", "/metrics", f"/api/v1/polls/{POLL}/run", "/api/v1/reload", "/api/v1/outbox/discard"):
                with category.attempt(f"{method} {target} on the read-only port"):
                    code = status(exchange(("127.0.0.1", agent.port), get(target, "Content-Length: 0\r\n", method=method)))
                    check(code in (404, 405), f"status {code}")
        category.measure("latency of /-/healthy", agent.survives() * 1000, "ms")


ATTACKS = [("Tokens of the control API", tokens), ("Names in Host", hosts), ("Pages of other origins", origins)]
