"""Clients that break HTTP, and floods."""
import contextlib
import threading
import time

from .control import get, status
from .world import World, check, connect, eventually, exchange

LONG = "x" * 100_000


def post(headers, body=""):
    return f"POST /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{headers}\r\n{body}"


def chunks(body):
    return post("Transfer-Encoding: chunked\r\n", body)


BAD, ANY = (400,), (200, 400, 404, 405, 408, 413, 414, 431, 501, 505)
CASES = [
    ("a header of 100 kB", get(headers=f"X-A: {LONG}\r\n"), (400, 431)),
    ("a header name of 100 kB", get(headers=f"{LONG}: 1\r\n"), (400, 431)),
    ("2,000 headers", get(headers="X-A: 1\r\n" * 2000), (400, 431)),
    ("headers without end", "GET / HTTP/1.1\r\n" + "X-A: 1\r\n" * 20_000, (400, 431)),
    ("an address of 100 kB", get("/" + LONG), (400, 414)),
    ("6,000 name[]", get("/metrics?" + "name[]=up&" * 6000), (200, 400)),
    ("6,000 other parameters", get("/api/v1/status?" + "".join(f"p{n}=1&" for n in range(6000))), ANY),
    ("NUL bytes", "\0\0\0\0\r\n\r\n", BAD), ("a NUL in a header", get(headers="X-A: \0\r\n"), BAD),
    ("a NUL in the address", get("/metrics\0"), BAD), ("a bare CR in a header", get(headers="X-A: 1\rX-B: 2\r\n"), BAD),
    ("a blank in a header's name", get(headers="X A: 1\r\n"), BAD), ("a blank before the colon", get(headers="A : 1\r\n"), BAD),
    ("a folded header", get(headers="X-A: 1\r\n 2\r\n"), BAD), ("a header without a colon", get(headers="X-A\r\n"), BAD),
    ("an empty header name", get(headers=": 1\r\n"), BAD), ("escapes in a header", get(headers="X-A: \x1b[31m\r\n"), ANY),
    ("HTTP/0.9", "GET /metrics\r\n\r\n", BAD), ("HTTP/2 without TLS", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", BAD),
    ("HTTP/9.9", get(version="9.9"), (400, 505)), ("HTTP/1.1 twice", "GET / HTTP/1.1 HTTP/1.1\r\nHost: localhost\r\n\r\n", BAD),
    ("a TLS hello", "\x16\x03\x01\x00\x05\x01\x00\x00\x01\r\n", BAD), ("random bytes", bytes(range(256)) * 40 + b"\r\n\r\n", BAD),
    ("an unknown method", get(method="STEAL"), BAD), ("a method in lower case", get(method="get"), BAD),
    ("a method of 10 kB", get(method="A" * 10_000), BAD), ("TRACE", get(method="TRACE"), (400, 405)),
    ("CONNECT", "CONNECT evil.example:443 HTTP/1.1\r\nHost: localhost\r\n\r\n", (400, 405)), ("OPTIONS *", get("*", method="OPTIONS"), (400, 405)),
    ("two lengths", post("Content-Length: 1\r\nContent-Length: 2\r\n", "x"), BAD),
    ("a list of lengths", post("Content-Length: 1, 2\r\n", "x"), BAD),
    ("a length and chunks", post("Content-Length: 1\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n"), BAD),
    ("chunks and a length", post("Transfer-Encoding: chunked\r\nContent-Length: 1\r\n", "0\r\n\r\n"), BAD),
    ("a negative length", post("Content-Length: -1\r\n"), BAD), ("a length with a plus", post("Content-Length: +1\r\n", "x"), BAD),
    ("a length beyond 64 bits", post("Content-Length: 99999999999999999999\r\n"), BAD),
    ("a length in hex", post("Content-Length: 0x1\r\n", "x"), BAD), ("an empty length", post("Content-Length: \r\n"), BAD),
    ("chunked twice", post("Transfer-Encoding: chunked, chunked\r\n", "0\r\n\r\n"), ANY),
    ("chunked, identity", post("Transfer-Encoding: chunked, identity\r\n"), BAD), ("Transfer-Encoding: xchunked", post("Transfer-Encoding: xchunked\r\n"), (400, 405)),
    ("a chunk size that is none", chunks("zz\r\nx\r\n0\r\n\r\n"), (400, 405)), ("a negative chunk size", chunks("-1\r\nx\r\n0\r\n\r\n"), (400, 405)),
    ("a chunk size beyond 64 bits", chunks("fffffffffffffffff\r\nx\r\n0\r\n\r\n"), (400, 405)), ("a chunk longer than its size", chunks("1\r\nxxxx\r\n0\r\n\r\n"), (400, 405)),
    ("a chunk extension of 100 kB", chunks(f"1;{LONG}\r\nx\r\n0\r\n\r\n"), (400, 405, 431)), ("a chunk without CRLF", chunks("1\nx\n0\n\n"), (400, 405)),
    ("trailers of 100 kB", chunks("0\r\n" + f"X-A: {LONG}\r\n\r\n"), (400, 405, 431)), ("10,000 chunks", chunks("1\r\nx\r\n" * 10_000 + "0\r\n\r\n"), (400, 405, 413)),
    ("a body that a GET has not", get("/metrics", "Content-Length: 4\r\n") + "body", ANY), ("a body of 1 GB that does not come", get("/metrics", "Content-Length: 1000000000\r\n"), ANY),
    ("Expect: 100-continue", post("Expect: 100-continue\r\nContent-Length: 4\r\n"), (100, 400, 405, 417)), ("an unknown Expect", get(headers="Expect: x\r\n"), ANY + (417,)),
    ("Upgrade to websocket", get(headers="Upgrade: websocket\r\nSec-WebSocket-Key: x\r\n"), ANY), ("Upgrade to h2c", get(headers="Upgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n"), ANY),
    ("HTTP/1.1 without a Host", get(host=""), BAD), ("half an escape", get("/metrics?name[]=%f"), BAD), ("an escape of no UTF-8", get("/metrics?name[]=%ff%fe"), BAD),
    ("an overlong escape", get("/%c0%ae%c0%ae/etc/passwd"), (400, 404)), ("an escaped NUL", get("/metrics%00"), (400, 404)), ("escapes in a header that decompresses", get(headers="Content-Encoding: gzip\r\n"), ANY),
    ("raw UTF-8 in the address", get("/\xc3\xa9"), (400, 404)), ("a blank in the address", get("/me trics"), BAD), ("a tab in the address", get("/me\ttrics"), BAD),
    ("another scheme", get("file:///etc/passwd"), (400, 404)), ("Accept of 10,000 types", get("/metrics", "Accept: " + ",".join(["a/b;q=0.1"] * 6000) + "\r\n"), ANY),
    ("q of no number", get("/metrics", "Accept: text/plain;q=NaN, */*;q=1e999\r\nAccept-Encoding: gzip;q=-1\r\n"), ANY),
    ("a scrape timeout of no number", get("/metrics", "X-Prometheus-Scrape-Timeout-Seconds: NaN\r\n"), ANY), ("a negative one", get("/metrics", "X-Prometheus-Scrape-Timeout-Seconds: -1e308\r\n"), ANY),
    ("Range", get("/metrics", "Range: bytes=0-1,2-3,4-5\r\n"), ANY), ("100 blank lines first", "\r\n" * 100 + get("/metrics"), ANY),
]
WALKS = ["/../../../etc/passwd", "/%2e%2e/%2e%2e%2fetc%2fpasswd", "//etc/passwd", "/help/../../etc/passwd", "/help/runbooks/../../../etc/passwd",
         "/help/runbooks/..%2f..%2fetc%2fpasswd", "/help/runbooks/%2e%2e%5cpasswd", "/help/runbooks/%00", "/..;/",
         "/api/v1/../../etc/passwd", "/api/v1/status/..", "/static/../starwatch.db", "/starwatch.yaml", "/starwatch.db", "/.git/config", "/%252e%252e/etc/passwd",
         "\\..\\..\\etc\\passwd", "/api/v1/explain/../logs", "/api/v1/outbox/%2e%2e"]
# Each is followed by another request. It can be a part of the body, but must not be answered as a request of its own.
SMUGGLED = "GET /-/healthy HTTP/1.1\r\nHost: localhost\r\n\r\n"
FRAMES = [("a length and chunks", "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n"), ("chunks and a length", "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n", "0\r\n\r\n"),
          ("two lengths", "Content-Length: 0\r\nContent-Length: 47\r\n", ""), ("a length with a plus", "Content-Length: +0\r\n", ""), ("a length with a blank inside", "Content-Length: 4 7\r\n", ""),
          ("xchunked", "Transfer-Encoding: xchunked\r\n", ""), ("chunked with a tab", "Transfer-Encoding:\tchunked\x0b\r\n", ""), ("chunked before identity", "Transfer-Encoding: chunked, identity\r\n", "0\r\n\r\n"),
          ("a chunk size that is none", "Transfer-Encoding: chunked\r\n", "zz\r\n\r\n"), ("a negative chunk size", "Transfer-Encoding: chunked\r\n", "-1\r\n\r\n"), ("a chunk size with 0x", "Transfer-Encoding: chunked\r\n", "0x0\r\n\r\n"),
          ("a chunk size beyond 64 bits", "Transfer-Encoding: chunked\r\n", "10000000000000000\r\n\r\n"), ("a folded Transfer-Encoding", "Transfer-Encoding:\r\n chunked\r\n", "0\r\n\r\n"),
          ("a blank before the colon", "Transfer-Encoding : chunked\r\n", "0\r\n\r\n"), ("a NUL in the name", "Transfer-Encoding\0: chunked\r\n", "0\r\n\r\n")]
BODIES = [("no JSON", "{"), ("nested 10,000 deep", "[" * 10_000), ("nested objects", '{"a":' * 10_000), ("a number beyond all", '{"ids":[1e999]}'), ("a string for a number", '{"ids":["1"]}'),
          ("an unknown field", '{"ids":[1],"x":1}'), ("NUL", "\0"), ("no UTF-8", '{"ids":["\xff"]}'), ("100,000 ids", '{"ids":[' + "1," * 99_999 + "1]}"), ("2 MB", '{"ids":[' + " " * 2_000_000 + "1]}"),
          ("a negative id", '{"ids":[-1]}'), ("an id beyond 64 bits", '{"ids":[99999999999999999999]}'), ("null", "null"), ("a list", "[]"), ("the same key twice", '{"all":true,"all":false}'), ("a half surrogate", '{"poll":"\\ud800","all":true}')]


def parsing(category):
    with World() as world:
        world.config(world.server().url)
        agent = world.agent()
        port, cpu = ("127.0.0.1", agent.port), agent.cpu()
        for place, address in (("port", port), ("socket", agent.socket)):
            for name, data, expected in CASES + [(walk, get(walk), (400, 403, 404, 405)) for walk in WALKS]:
                with category.attempt(f"{place}: {name}"):
                    answer = exchange(address, data, half_close=not isinstance(data, str) or "HTTP/1" not in data)
                    check(status(answer) in expected, f"status {status(answer)}: {answer[:80]!r}")
                    check("root:" not in answer and "SQLite" not in answer, "a file")
                    category.measure("latency of /-/healthy beside broken requests", agent.survives() * 1000, "ms")
            for name, headers, body in FRAMES:
                for target in ("/metrics", "/api/v1/outbox/retry"):
                    with category.attempt(f"{place}: a request hidden after {name}, to {target}"):
                        answer = exchange(address, f"POST {target} HTTP/1.1\r\nHost: localhost\r\n{headers}\r\n{body}{SMUGGLED}", 2, True)
                        check('"healthy"' not in answer, f"it was answered: {answer[:60]!r}")
        paths = ("/api/v1/outbox/retry", "/api/v1/outbox/discard", "/api/v1/quarantine/discard", "/api/v1/stars", "/api/v1/identity/remove", "/api/v1/keys/master")
        for path in paths:
            for name, body in BODIES:
                with category.attempt(f"{path} with {name}"):
                    data = body.encode("latin-1")
                    code, _, text = agent.control("POST", path, data, {"Content-Type": "application/json"})
                    harmless = name in ("the same key twice", "100,000 ids")
                    check(400 <= code < 500 or harmless and code == 200, f"status {code}: {text[:80]}")
        targets = [f"/api/v1/outbox?limit={value}" for value in ("-1", "0", "1001", "99999999999999999999", "1e3", "x", "", "1&limit=2")]
        targets += [f"/api/v1/{name}" for name in ("logs?since=%1b", "logs?limit=5001", "logs?level=x", "outbox/-1", "outbox/9999999999999999999999", "notifications/sent?before=x",
                                                  "shortlinks/%0a", "explain/%00", "explain/" + "x" * 5000, "polls/%2e%2e/run", "outbox?state=' OR 1=1 --".replace(" ", "%20"), "outbox?poll=%22;DROP")]
        for target in targets:
            with category.attempt(f"GET {target[:60]}"):
                code, _, text = agent.control("GET", target)
                check(400 <= code < 500, f"status {code}")
                check("sqlite" not in text.lower() and "SELECT" not in text, "the database's words")
        category.measure("CPU for a broken request", (agent.cpu() - cpu) / category.attempts * 1000, "ms", 1)
        check("CANARY" not in agent.text(), "the log has a canary")
        for line in agent.lines():
            check(isinstance(line, dict), "a line of the log is no object")


def latency_during(agent, category, name, seconds, limit):
    """Measures /-/healthy for some seconds, while something else happens."""
    end, worst, count = time.monotonic() + seconds, 0, 0
    while time.monotonic() < end:
        worst, count = max(worst, agent.survives()), count + 1
        time.sleep(0.02)
    category.measure(f"/-/healthy beside {name}", worst * 1000, "ms")
    check(count >= 5 and worst < limit, f"the slowest of {count} answers took {worst:.1f} s")


def floods(category):
    with World() as world:
        world.config(world.server().url)
        agent = world.agent()
        address = ("127.0.0.1", agent.port)

        def pipeline(target, stop):
            data = (f"GET {target} HTTP/1.1\r\nHost: localhost\r\n\r\n" * 200).encode()
            with contextlib.suppress(OSError):
                connection = connect(address, 5)
                connection.setblocking(True)
                connection.settimeout(5)
                reader = threading.Thread(target=read, args=(connection,), daemon=True)
                reader.start()
                while not stop.is_set():
                    connection.sendall(data)
                connection.close()

        def read(connection):
            with contextlib.suppress(OSError, ValueError):
                while connection.recv(1 << 20):
                    pass

        agent.reset_peak()
        idle = agent.memory("VmRSS")
        for target in ("/metrics", "/", "/-/healthy", "/help", "/nothing"):
            with category.attempt(f"8 connections that pipeline {target} without end"):
                stop = threading.Event()
                threads = [threading.Thread(target=pipeline, args=(target, stop), daemon=True) for _ in range(8)]
                for thread in threads:
                    thread.start()
                try:
                    latency_during(agent, category, "pipelines", 2, 2)
                finally:
                    stop.set()
                    for thread in threads:
                        thread.join(10)
        with category.attempt("clients that pipeline and never read"):
            with contextlib.ExitStack() as stack:
                for _ in range(16):
                    connection = stack.enter_context(connect(address, 1))
                    with contextlib.suppress(OSError):
                        for _ in range(50):
                            connection.sendall(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n" * 200)
                latency_during(agent, category, "clients that never read", 1, 2)
        for name, start in (("nothing", b""), ("half a request", b"GET / HTTP/1.1\r\nHos"), ("headers that drip", b"GET / HTTP/1.1\r\nHost: localhost\r\n")):
            with category.attempt(f"400 connections with {name}"), contextlib.ExitStack() as stack:
                held = []
                for _ in range(400):
                    connection = stack.enter_context(connect(address, 5))
                    connection.sendall(start)
                    held.append(connection)
                if "drip" in name:
                    for connection in held:
                        with contextlib.suppress(OSError):
                            connection.sendall(b"X-A: 1\r\n")
                latency_during(agent, category, "400 idle connections", 1, 2)
        with category.attempt("2,000 connections one after the other"):
            for _ in range(2000):
                connect(address, 5).close()
            latency_during(agent, category, "short connections", 0.5, 2)
        grown = (agent.memory() - idle) / 1e6
        category.measure("memory above idle", grown, "MB", 1)
        with category.attempt("memory stays bounded"):
            check(grown < 100, f"{grown:.0f} MB more")
        with category.attempt("descriptors are closed"):
            count = lambda: len(list((world.folder.parent / f"/proc/{agent.pid}/fd").iterdir()))  # noqa: E731
            check(eventually(lambda: count() < 60, 40, 0.5), f"{count()} are open")


ATTACKS = [("Requests that break HTTP", parsing), ("Floods", floods)]
