import FoundationEssentials
import StarwatchCore
import Testing

@testable import Starwatch
@testable import StarwatchCommand

/// The text of the status for old, fresh and needy agents.
extension OutputTests {
    @Test func theStatusHasTheAgentsProcess() throws {
        let now = Timestamp(iso8601: "2026-01-01T12:00:00Z")!
        var status = AgentStatus(version: "1.2.3", startedAt: now, now: now)
        #expect(StatusCommand.page(status).contains("Agent     starwatch 1.2.3, up 0 ms\n"))
        status.pid = 4242
        #expect(StatusCommand.page(status).contains("Agent     starwatch 1.2.3, pid 4242, up 0 ms\n"))
        #expect(String(decoding: try JSONEncoder().encode(status), as: UTF8.self).contains("\"pid\":4242"))
    }

    @Test func aPollThatNeedsAPersonSaysWhyAndWhatToDo() {
        var status = AgentStatus(
            version: "1.2.3",
            startedAt: Timestamp(iso8601: "2026-01-01T09:00:00Z")!,
            now: Timestamp(iso8601: "2026-01-01T12:00:00Z")!
        )
        var poll = AgentStatus.Poll(kind: .starredProjects, stale: true, staleAfterSeconds: 14_400)
        poll.lastOutcome = "failed"
        poll.lastReason = "http_403 error=forbidden scope=notifications:read"
        poll.lastError = "The server denied access (403)."
        poll.needsAction = true
        poll.failingSince = "2026-01-01T11:55:00.000Z"
        status.polls = ["starred_projects": poll]
        let page = StatusCommand.page(status)
        #expect(page.contains("starred_projects  needs action  "))
        status.polls["starred_projects"]?.needsAction = false
        status.polls["starred_projects"]?.stale = false
        #expect(StatusCommand.page(status).contains("starred_projects  new  "))
        status.polls["starred_projects"]?.lastSuccess = "2026-01-01T11:50:00.000Z"
        #expect(StatusCommand.page(status).contains("starred_projects  fresh  "))
        status.polls["starred_projects"]?.skipReason = .noStars
        #expect(StatusCommand.page(status).contains("starred_projects  no stars  "))
        status.reasons = ["endpoint_missing:starred_projects"]
        #expect(StatusCommand.page(status).contains("starred_projects  no endpoint  "))
        status.polls["starred_projects"]?.skipReason = nil
        status.reasons = ["failing:starred_projects"]
        #expect(StatusCommand.page(status).contains("starred_projects  failing  "))
        #expect(page.contains("  failed (HTTP 403, forbidden, scope notifications:read)  "))
        #expect(page.contains("\nPoll starred_projects  failing for 5 min: The server denied access (403).\n"))
    }

    @Test(arguments: [
        (1, 0, "hold a notice)"), (2, 0, "hold notices)"), (2, 1, "hold 1 change)"), (2, 3, "hold 3 changes)"),
    ])
    func theStatusSaysWhatTheHoursOfASinkHold(notifications: Int, changes: Int, says: String) {
        let now = Timestamp(seconds: 1_767_225_600)
        var status = AgentStatus(version: "1", startedAt: now, now: now)
        var wait = AgentStatus.Waiting(
            notifications: notifications,
            since: now.iso8601,
            nextAttempt: now.iso8601
        )
        wait.held = changes
        status.outbox.waiting = ["phone": wait]
        #expect(StatusCommand.page(status).contains("its hours \(says)"))
    }

    @Test func theStatusOfAnOlderAgentIsReadable() throws {
        let now = Timestamp(seconds: 1_767_225_600)
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        let current = try encoder.encode(AgentStatus(version: "1", startedAt: now, now: now))
        let older = String(decoding: current, as: UTF8.self).replacing(/,"(waiting|last_day)":\{[^}]*\}/, with: "")
        #expect(!older.contains("waiting") && !older.contains("last_day"))
        let status = try JSONDecoder().decode(AgentStatus.self, from: Data(older.utf8))
        #expect(status.outbox.waiting == nil && status.outbox.lastDay == nil)
        #expect(StatusCommand.page(status).contains("0 stored"))
    }

    @Test func statesAreColouredAndStayAligned() {
        let table = TextTable(titles: ["SINK", "STATE", "LAST"], rows: [["ok", "closed", "-"], ["b", "open", "x"]])
        let painted = Palette.$isOn.withValue(true) { table.text }
        #expect(painted.contains("ok    \u{1B}[32mclosed\u{1B}[0m  -\n"))
        #expect(painted.contains("b     \u{1B}[33mopen\u{1B}[0m    x"))
        #expect(painted.replacing(/\u{1B}\[\d+m/, with: "") == table.text)
        #expect(!table.text.contains("\u{1B}"))
    }

    @Test(
        arguments: [
            (true, ["TERM": "xterm"], true), (false, ["TERM": "xterm"], false), (true, ["TERM": "dumb"], false),
            (true, ["TERM": "xterm", "NO_COLOR": "1"], false), (true, ["TERM": "xterm", "NO_COLOR": ""], true),
        ] as [(Bool, [String: String], Bool)]
    )
    func coloursNeedATerminalAndNoNoColor(isTerminal: Bool, environment: [String: String], isWanted: Bool) {
        #expect(Palette.isWanted(isTerminal: isTerminal, environment: environment) == isWanted)
    }

    @Test func numbersHaveNoFloatNoise() throws {
        #expect("\(0.00018800000000000002.withoutNoise)" == "0.000188")
        #expect("\((0.1 + 0.2).withoutNoise)" == "0.3")
        #expect("\((-0.0125).withoutNoise)" == "-0.0125")
    }

    @Test func aFreshAgentsStatusHasNoHoles() {
        let now = Timestamp(iso8601: "2026-01-01T09:00:00Z")!
        let page = StatusCommand.page(AgentStatus(version: "1", startedAt: now, now: now))
        #expect(!page.contains("PROBLEM"))
        #expect(page.contains("Identity  signed out"))
        #expect(page.contains("Scraped   never since the start"))
        #expect(page.contains("Clock     not compared with the server's yet"))
        #expect(page.contains("dialect unknown yet"))
    }
}
