"""Servers whose clock is wrong, or is not that of their tokens."""
import base64
import email.utils
import json
import time

from .world import World, check, page, response


def claims(headers):
    """The claims of a request's token; `None` if it has none."""
    if "authorization" not in headers:
        return None
    part = headers["authorization"].split(".")[1]
    return json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))


def agent_of(world, server):
    """An agent whose tokens live for two seconds."""
    secret = world.write("shared.secret", "a secret of more than 32 bytes...........")
    world.config(server.url, auth={"kind": "shared_secret", "secret_file": str(secret), "lifetime": "2s", "refresh_before": "1s"})
    return world.agent()


def outcomes(agent, seconds):
    end, found = time.monotonic() + seconds, []
    while time.monotonic() < end:
        found.append(agent.poll()["outcome"])
        time.sleep(0.5)
    return found


def clocks(category):
    for date in ("Fri, 01 Feb 2036 00:00:00 GMT", "Thu, 01 Jan 1970 00:00:00 GMT", "Sat, 31 Dec 9999 23:59:59 GMT", "Mon, 01 Jan 0001 00:00:00 GMT"):
        with category.attempt(f"Date: {date}"), World() as world:
            server = world.server(page(headers=f"Date: {date}\r\n"))
            agent = agent_of(world, server)
            outcomes(agent, 4)
            issued = {token["iat"] for _, headers, _ in server.requests if (token := claims(headers))}
            check(len(issued) > 1, f"{len(issued)} tokens")
            worst = max(abs(moment - time.time()) for moment in issued)
            category.measure("iat moved", worst / 3600, "h", 1)
            check(worst <= 24 * 3600 + 5, f"iat is {worst:.0f} s from the local clock")
            agent.survives()


def tokens(category):
    """A server that checks tokens by another clock than that of its headers, as behind a proxy."""
    for lead in (600, -7200):
        for tells in (True, False):
            def answer(line, headers, body, lead=lead, tells=tells):
                now = time.time()
                date = f"Date: {email.utils.formatdate(now + lead, usegmt=True)}\r\n"
                token = claims(headers)
                if token and token["iat"] <= now + 60 and token["exp"] > now - 1:
                    return page(headers=date)
                refused.append(now)
                details = {"details": {"currentTime": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(now))}} if tells else {}
                return response(json.dumps({"error": {"code": "JWT_VERIFY_FAILED", "message": "no", **details}}), date, "401 Unauthorized")

            refused = []
            told = "tells its clock" if tells else "tells nothing"
            with category.attempt(f"Date {lead:+} s, a server that {told}"), World() as world:
                server = world.server(answer)
                agent = agent_of(world, server)
                found = outcomes(agent, 8)
                # The first run of the schedule can still be on its way.
                check(all(one == "unchanged" for one in found[1:]), f"outcomes {found}")
                category.measure("refused tokens", len(refused), "")
                agent.survives()


def samples(category):
    """One value that no clock has, among good ones."""
    for name, value in (("X-Server-Time", "0"), ("Date", "Thu, 01 Jan 1970 00:00:00 GMT"), ("X-Server-Time", "9" * 12), ("X-Server-Time", "-1")):
        with category.attempt(f"{name}: {value}, once"), World() as world:
            def good(line, headers, body):
                return page(headers=f"Date: {email.utils.formatdate(usegmt=True)}\r\nX-Server-Time: {time.time():.0f}\r\n")

            server = world.server(good)
            agent = agent_of(world, server)
            outcomes(agent, 2)
            server.script.append(page(headers=f"{name}: {value}\r\n"))
            outcomes(agent, 4)
            issued = [token["iat"] for _, headers, _ in server.requests if (token := claims(headers))]
            worst = max(abs(moment - time.time()) for moment in issued)
            check(worst <= 60, f"iat is {worst:.0f} s from the local clock")
            agent.survives()


ATTACKS = [("A server's clock", clocks), ("A token checked by another clock", tokens), ("One reading that no clock has", samples)]
