"""Answers of a hostile server."""
import base64
import gzip
import json
import os
import re
import threading
import time

from .world import PLAN, World, check, eventually, item, page, page_text, response, run

MIB = 1 << 20
GZIP = "Content-Encoding: gzip\r\n"
TAIL = '],"hitLimit":false,"pagination":{"hasMore":false,"nextAfterId":null},"x":"%s"}'
COMPACT = json.dumps(item(), separators=(",", ":"))


def squeezed(text, size=10_000):
    """Compresses a text with a `%s` in it, filled with random letters so that about `size` bytes are sent."""
    plain = len(gzip.compress((text % "").encode(), 9))
    filler = base64.b64encode(os.urandom(MIB)).decode()[: max(0, int((size - plain) * 1.3))]
    return response(gzip.compress((text % filler).encode(), 9), GZIP)


# About 10 kB each, which expand as far as the limits of the agent allow, or far beyond.
BOMBS = {
    "2 MiB of blanks": '{"data":[' + " " * (2 * MIB - 50_000) + TAIL,
    "a text of 2 MiB": '{"data":[],"y":"' + "a" * (2 * MIB - 50_000) + '","z":[' + TAIL,
    "a name of 2 MiB of escapes": page_text([item()])[:-1].replace("Canary Garden", "\\u0041" * 330_000) + ',"x":"%s"}',
    "9,999 equal items": '{"data":[' + ",".join([COMPACT] * 6500) + TAIL,
    "9,999 small items": '{"data":[' + ",".join(['{"planSummary":{"jwtId":"1700000001_abcdef_00000001","handleId":"' + PLAN + '"}}'] * 9999) + TAIL,
    "9,999 empty items": '{"data":[' + ",".join(["{}"] * 9999) + TAIL,
    "9,999 items of 24 wrong fields": '{"data":[' + ",".join(["{" + ",".join(f'"{chr(97 + n)}":0' for n in range(24)) + "}"] * 9999) + TAIL,
    "490,000 numbers": '{"data":[],"y":[' + ",".join(["[" + ",".join("0" * 9998) + "]"] * 49) + '],"z":[' + TAIL,
    "240,000 lists": '{"data":[],"y":[' + ",".join(["[" + ",".join(["[]"] * 9998) + "]"] * 24) + '],"z":[' + TAIL,
    "an object of 200,000 fields": '{"data":[],"y":{' + ",".join(['"aaaaa":0'] * 200_000) + '},"z":[' + TAIL,
    "8,000 lists of depth 60": '{"data":[],"y":[' + ",".join(["[" * 60 + "]" * 60] * 8000) + '],"z":[' + TAIL,
    "12 MiB of blanks": '{"data":[' + " " * (12 * MIB) + TAIL,
}


def fields(**values):
    return page([item(2, **values)])


def raw(body, headers=""):
    return [f"HTTP/1.1 200 OK\r\n{headers}Connection: close\r\n\r\n".encode() + body, None]


def answers(trap):
    """Names and answers. `trap` is a server that must get no request."""
    deep = "[" * 100_000
    yield "100 MiB of gzip", response(gzip.compress(b" " * (100 * MIB), 9), GZIP)
    yield "gzip in gzip", response(gzip.compress(gzip.compress(b" " * MIB)), "Content-Encoding: gzip, gzip\r\n")
    yield "half a gzip", response(gzip.compress(page_text().encode())[:30], GZIP)
    yield "no gzip", response(b"\x1f\x8b" + os.urandom(500), GZIP)
    yield "gzip and garbage", response(gzip.compress(page_text().encode()) + os.urandom(500), GZIP)
    yield "20,000 gzip members", response(gzip.compress(b"") * 20_000, GZIP)
    yield "an encoding that was not asked for", response(os.urandom(500), "Content-Encoding: br\r\n")
    yield "11 MiB", response(b" " * (11 * MIB))
    yield "11 MiB in chunks", [b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"] + [b"100000\r\n" + b" " * MIB + b"\r\n"] * 11 + [None]
    yield "a million chunks", [b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + b"1\r\n \r\n" * MIB + b"0\r\n\r\n", None]
    for name, text in {
        "100,000 deep lists": deep, "100,000 deep objects": '{"a":' * 100_000, "65 levels": page_text()[:-1] + ',"x":' + "[" * 65 + "]" * 65 + "}",
        "deep in data": '{"data":' + deep, "deep in an item": '{"data":[{"planSummary":' + deep,
        "10,001 items": '{"data":[' + ",".join(["{}"] * 10_001) + "]}", "600,000 values": '{"y":[' + ",".join(["[" + "0," * 9000 + "0]"] * 67) + "]}",
        "a number of 100,000 digits": '{"data":' + "9" * 100_000 + "}", "1e999999999": '{"data":[1e999999999]}', "NaN": '{"data":[NaN]}', "-0.0e-0": '{"data":-0.0e-0}',
        "fields twice": '{"data":[],"data":{},"hitLimit":false,"hitLimit":1}', "half a surrogate": '{"data":["\\ud800"]}', "a NUL": '{"data":\0[]}',
        "null": "null", "a text": '"CANARY"', "a number": "1", "a list": "[]", "nothing": "", "blanks": "   ", "comments": "/* */{}", "two values": page_text() + page_text(),
        "single quotes": "{'data':[]}", "HTML": "<html>CANARY</html>", "half": page_text([item()])[:50],
    }.items():
        yield f"JSON: {name}", response(text)
    yield "JSON: no UTF-8", response(b'{"data":["\xff\xfe\xc0\xaf"]}')
    yield "JSON: a byte order mark", response(b"\xef\xbb\xbf" + page_text().encode())
    yield "JSON: UTF-16", response(page_text().encode("utf-16"))
    for value in (None, True, 1, -1, 1e300, "", "x" * 100_000, [], {}, [[]], "\0", "did:ethr:0x1", "../../etc/passwd", "' OR 1=1 --", "\ud83d\ude00" * 5000):
        for field in ("jwtId", "handleId", "name", "version", "issuerDid", "startTime", "locLat"):
            yield f"{field} is {str(value)[:20]!a} ({type(value).__name__})", fields(**{field: value})
    yield "data is an object", response('{"data":{},"hitLimit":false,"pagination":{}}')
    yield "hitLimit is a text", response('{"data":[],"hitLimit":"no","pagination":[]}')
    yield "an id of the year 2286", fields(jwtId="9999999999_abcdef_00000001")
    yield "a page that never ends", lambda *_: page([item(3)], more=True, after="1700000003_abcdef_00000003")
    body = page_text().encode()
    for name, length in (("too long", len(body) + 50), ("too short", 5), ("negative", -1), ("of 1 PB", 10**15), ("no number", "x"), ("beyond 64 bits", 10**30)):
        yield f"Content-Length {name}", [response(body, length=length), None]
    yield "two lengths", [b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 99\r\n\r\n{}", None]
    yield "a length and chunks", [b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", None]
    yield "chunks that are none", raw(b"zz\r\n{}\r\n0\r\n\r\n", "Transfer-Encoding: chunked\r\n")
    yield "a head without end", [b"HTTP/1.1 200 OK\r\n" + b"X-A: 1\r\n" * 100_000, None]
    yield "a header of 1 MB", response("{}", f"X-A: {'x' * 1_000_000}\r\n")
    yield "20,000 cookies", page(headers="".join(f"Set-Cookie: c{n}=CANARY; Path=/\r\n" for n in range(20_000)))
    yield "100 cookies", page(headers="".join(f"Set-Cookie: c{n}=CANARY; Path=/\r\n" for n in range(100)))
    yield "5,000 times 103", [b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n" * 5000 + page()]
    yield "5,000 times 100", [b"HTTP/1.1 100 Continue\r\n\r\n" * 5000 + page()]
    yield "101 to a websocket", [b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n" + os.urandom(500), None]
    yield "HTTP/0.9", [b"<html>CANARY", None]
    yield "HTTP/9.9", [b"HTTP/9.9 200 OK\r\n\r\n", None]
    yield "an HTTP/2 preface", [b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\0" * 100, None]
    yield "random bytes", [os.urandom(5000), None]
    yield "an SSH greeting", [b"SSH-2.0-OpenSSH_9.2\r\n", None]
    yield "a second answer behind the first", [page() + response('{"data":"CANARY"}')]
    for status in ("000 X", "099 X", "204 No Content", "206 Partial Content", "304 Not Modified", "300 X", "402 X", "403 X", "404 X", "410 X", "418 X", "451 X", "600 X", "999 X"):
        yield f"status {status[:3]}", response('{"error":"CANARY \\u001b[31m"}', status=status)
    yield "a status text with escapes", response("{}", status="400 CANARY\x1b[2J\x07")
    for code in (301, 302, 303, 307, 308):
        for target in ("file:///etc/passwd", trap.url + "/CANARY", "gopher://127.0.0.1:1/", "//evil.example/", "http://u:CANARY@127.0.0.1:1/", "/api/v2/time", "javascript:1", "\x1b[31m"):
            yield f"{code} to {target.replace(trap.url, 'a trap')!r}", response("", f"Location: {target}\r\n", f"{code} X")
    yield "Alt-Svc, Refresh and Link", page(headers=f'Alt-Svc: h2="127.0.0.1:{trap.port}"; ma=99\r\nRefresh: 0; url={trap.url}\r\nLink: <{trap.url}>; rel=preload\r\n')
    yield "a question for a password", response("{}", 'WWW-Authenticate: Basic realm="CANARY"\r\nWWW-Authenticate: Negotiate\r\n', "407 X")
    for name in ("Date", "X-Server-Time", "Age", "X-Rate-Limit-Remaining", "RateLimit", "Content-Language"):
        for value in ("CANARY", "-1", "9" * 400, "NaN", "\x01\x02", "x" * 50_000):
            yield f"{name}: {value[:10]!r}", page(headers=f"{name}: {value}\r\n")


def measured(category, agent, action):
    """Runs `action`, and checks what it cost."""
    idle, cpu = agent.memory("VmRSS"), agent.cpu()
    agent.reset_peak()
    result = action()
    cost, grown = agent.cpu() - cpu, (agent.memory() - idle) / 1e6
    category.measure("CPU", cost * 1000, "ms")
    category.measure("memory above idle", grown, "MB", 1)
    return result, cost, grown


def hostile(category):
    with World() as world:
        trap, server = world.server(response("CANARY")), world.server()
        world.config(server.url, delivery={"sinks": [{"name": "f", "kind": "file", "path": str(world.path("out"))}]})
        agent = world.agent()
        eventually(lambda: "server.dialect" in agent.text())
        for name, answer in answers(trap):
            with category.attempt(name):
                server.script = [answer]
                result, cost, grown = measured(category, agent, lambda: agent.poll(90))
                server.script = []
                check(result["outcome"] in ("unchanged", "changed", "failed", "deferred", "partial", "bootstrapped"), f"outcome {result}")
                check(cost < 5 and grown < 60, f"it cost {cost:.1f} s and {grown:.0f} MB")
                category.measure("latency of /-/healthy", agent.survives() * 1000, "ms")
                again = eventually(lambda: agent.poll()["outcome"] in ("unchanged", "changed"), 20, 0.2)
                if not again:
                    agent.control("POST", "/api/v1/server/clear-wait")
                check(again or agent.poll()["outcome"] in ("unchanged", "changed"), f"the next poll: {agent.poll()}")
        with category.attempt("no redirect and no link is followed"):
            check(trap.count() == 0, f"{trap.count()} requests to another server")
        with category.attempt("no cookie is sent back"):
            check(not any("cookie" in headers for _, headers, _ in server.requests), "a cookie")
        with category.attempt("the log names nothing of the answers"):
            check("CANARY" not in agent.text(), re.search(".{60}CANARY.{20}", agent.text() + " " * 20) and "a canary")
            for line in agent.text().splitlines():
                check(isinstance(json.loads(line), dict) and not re.search("[\x00-\x1f\x7f-\x9f]", line), "a line that is no clean JSON")
        with category.attempt("the agent ends well"):
            check(agent.stop() == 0, "another exit code than 0")


def bombs(category):
    """10 kB of gzip, in a poll and while the dialect is not known."""
    slow = 0.1 if os.environ.get("STARWATCH_ATTACK_RELEASE") else 2
    for name, text in BOMBS.items():
        answer = squeezed(text)
        category.measure("bytes sent", len(answer), "bytes")
        for place in ("poll", "detection"):
            with category.attempt(f"{name}, {place}"), World() as world:
                server, go = world.server(), threading.Event()
                world.config(server.url)
                if place == "detection":
                    server.script = [lambda *_: go.wait(20) and answer]
                agent = world.agent()
                eventually(lambda: server.count() > 0)
                if place == "poll":
                    agent.poll()
                    server.script = [answer]
                else:
                    time.sleep(0.5)

                def attack():
                    if place == "poll":
                        return agent.poll()
                    go.set()
                    return eventually(lambda: re.search(r'"event":"poll\.(changed|unchanged|failed|bootstrapped)', agent.text()))

                result, cost, grown = measured(category, agent, attack)
                check(result, "no outcome")
                check(cost < slow and grown < 50, f"it cost {cost * 1000:.0f} ms and {grown:.1f} MB")
                agent.survives()


def waits(category):
    values = [("999999999", True), ("99999999999999999999999", True), ("604801", True), ("Thu, 01 Jan 2037 00:00:00 GMT", True), ("-1", False), ("CANARY", False), ("1e9", False),
              ("0x7fffffff", False), ("", False), ("Thu, 01 Jan 1970 00:00:00 GMT", False)]
    for status in ("429 X", "503 X"):
        for value, capped in values:
            with category.attempt(f"{status[:3]} with Retry-After: {value}"), World() as world:
                server = world.server(response("{}", f"Retry-After: {value}\r\n", status))
                world.config(server.url)
                agent = world.agent()
                eventually(lambda: server.count() > 0)
                if not capped:
                    # The agent then waits for a time of its own.
                    agent.survives()
                    check("server.wait_capped" not in agent.text(), "it was taken for a long wait")
                else:
                    check(eventually(lambda: "server.wait_capped" in agent.text(), 5), "no server.wait_capped in the log")
                    server.default = page()
                    before = server.count()
                    check(agent.poll()["outcome"] not in ("unchanged", "changed") and server.count() == before, "the wait is not obeyed")
                    check(run("server", "clear-wait", "--config", world.path("starwatch.yaml")).returncode == 0, "clear-wait")
                    check(eventually(lambda: agent.poll()["outcome"] in ("unchanged", "changed"), 20, 0.3), f"no recovery: {agent.poll()}")
                check("CANARY" not in agent.text(), "the log has the value")


ATTACKS = [("Answers of a hostile server", hostile), ("10 kB of gzip", bombs), ("Retry-After", waits)]
