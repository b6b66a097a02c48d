import Foundation
import NIOHTTP1
import StarwatchCore
import Testing

@testable import Starwatch
@testable import StarwatchHTTP

@Suite(.timeLimit(.minutes(5)))
struct AdminServerTests {
    @Test func aScrapePassesWhatItAskedFor() async throws {
        let agent = FakeAgent()
        try await withAdmin(agent) { probe in
            _ = try await probe.get(
                "/metrics?name[]=up&name%5B%5D=a%2Bb%20c&x=1&name[]=d+e",
                [
                    "Accept": "text/plain;q=0.5", "Accept-Encoding": "gzip",
                    "X-Prometheus-Scrape-Timeout-Seconds": "9.5",
                ]
            )
        }
        let query = try #require(agent.now.queries.first)
        #expect(query.accept == "text/plain;q=0.5")
        #expect(query.names == ["up", "a+b c", "d e"])
        #expect(query.scrapeTimeout == .seconds(9.5))
    }

    @Test func aScrapeWithoutHeadersAsksForNothingSpecial() async throws {
        let agent = FakeAgent()
        _ = try await withAdmin(agent) { try await $0.get("/metrics", ["X-Prometheus-Scrape-Timeout-Seconds": "nan"]) }
        let query = try #require(agent.now.queries.first)
        #expect(query.accept == nil)
        #expect(query.names.isEmpty)
        #expect(query.scrapeTimeout == nil)
    }

    @Test func aScrapeGetsTheAgentsAnswerAsItIs() async throws {
        let body: [UInt8] = [0x1f, 0x8b, 0, 255]
        let agent = FakeAgent {
            $0.metrics = .init(
                status: 200,
                contentType: "application/openmetrics-text; version=1.0.0; charset=utf-8",
                body: body
            )
        }
        let reply = try await withAdmin(agent) { try await $0.get("/metrics", ["Accept-Encoding": "gzip"]) }
        #expect(reply.status == 200)
        #expect(reply.bytes == body)
        #expect(reply.headers["Content-Type"] == ["application/openmetrics-text; version=1.0.0; charset=utf-8"])
        #expect(reply.headers["Content-Encoding"].isEmpty)
        #expect(reply.headers["Vary"] == ["Accept, Accept-Encoding"])
        #expect(reply.headers["Cache-Control"] == ["no-store"])
        #expect(reply.headers["Content-Length"] == ["4"])
    }

    @Test(arguments: [("gzip", 4096, true), ("gzip", 4095, false), ("identity", 100_000, false), ("", 100_000, false)])
    func aLongPageIsCompressedForAClientThatAcceptsIt(accepted: String, length: Int, isCompressed: Bool) async throws {
        let body = [UInt8](repeating: UInt8(ascii: "a"), count: length)
        let agent = FakeAgent { $0.metrics = .init(status: 200, contentType: "text/plain", body: body) }
        let headers: HTTPHeaders = accepted.isEmpty ? [:] : ["Accept-Encoding": accepted]
        let reply = try await withAdmin(agent) { try await $0.get("/metrics", headers) }
        #expect(reply.headers["Content-Encoding"] == (isCompressed ? ["gzip"] : []))
        #expect(reply.headers["Vary"] == ["Accept, Accept-Encoding"])
        #expect(reply.bytes == (isCompressed ? try #require(Gzip.compress(body)) : body))
    }

    @Test func aScrapeTooManyIs503() async throws {
        let agent = FakeAgent { $0.metrics.status = 503 }
        #expect(try await withAdmin(agent) { try await $0.get("/metrics") }.status == 503)
    }

    @Test func healthAndReadinessSayWhy() async throws {
        let well = try await withAdmin(FakeAgent()) { try await ($0.get("/-/healthy"), $0.get("/-/ready")) }
        #expect(well.0.status == 200)
        #expect(well.1.status == 200)
        #expect(well.1.text == #"{"ready":true}"#)
        let agent = FakeAgent {
            $0.isHealthy = false
            $0.notReady = ["draining", "signed_out"]
        }
        let ill = try await withAdmin(agent) { try await ($0.get("/-/healthy"), $0.get("/-/ready")) }
        #expect(ill.0.status == 503)
        #expect(ill.1.status == 503)
        #expect(ill.1.text == #"{"ready":false,"reasons":["draining","signed_out"]}"#)
        #expect(ill.1.headers["Content-Type"] == ["application/json"])
    }

    @Test func statusIsTheAgentsWithSortedKeys() async throws {
        let status = StatusPageTests.degraded
        let reply = try await withAdmin(FakeAgent { $0.status = status }) { try await $0.get("/api/v1/status") }
        #expect(try JSONDecoder().decode(AgentStatus.self, from: Data(reply.bytes)) == status)
        let keys = ["clock", "now", "outbox", "polls", "reasons", "server", "started_at", "status", "version"]
        let places = try keys.map { key in
            let ranges = reply.text.split(separator: "\"\(key)\":", maxSplits: 1, omittingEmptySubsequences: false)
            try #require(ranges.count == 2)
            return ranges[0].utf8.count
        }
        #expect(places == places.sorted())
    }

    /// Users' scripts read these. A field may be added here; one that goes or is renamed breaks them.
    @Test func theStatusHasTheDocumentedFieldsAndNoOthers() async throws {
        var status = StatusPageTests.degraded
        status.pid = 4242
        status.problems?[0].since = status.now
        status.problems?[0].until = status.now
        status.problems?[0].reason = "timeout"
        status.problems?[0].detail = "More."
        status.polls = status.polls.filter { $0.key == "starred_projects" }
        status.polls["starred_projects"]?.skipReason = .throttled
        status.polls["starred_projects"]?.lastReason = "http_403"
        status.polls["starred_projects"]?.lastError = "The server denied access (403)."
        status.outbox.sinks = ["phone": "disabled"]
        status.pollingMetrics.lastPollTimestamp = status.now
        status.polls["starred_projects"]?.lastNew = status.now
        status.polls["starred_projects"]?.seenUntil = status.now
        (status.clock.serverTime, status.lastScrape) = (status.now, status.now)
        status.storage = AgentStatus.Storage(encrypted: true, reencryption: 0.5)
        let end = RunEnd(startedAt: .init(seconds: 1_767_268_790), at: .init(seconds: 1_767_268_795), .killed)
        status.restarts = AgentStatus.Restarts([end], now: .init(seconds: 1_767_268_800))
        status.outbox.sinkReasons = ["phone": "http_410"]
        status.outbox.sinkLastSuccess = ["phone": status.now]
        var answers = AnswerWindow.Summary()
        (answers.p95, answers.usual) = (0.5, 0.25)
        status.server.answers = AgentStatus.Answers(answers)
        status.canary = AgentStatus.Canary(
            HealthFacts.Canary(every: .seconds(60), lastArrival: .init(seconds: 0), startedAt: .init(seconds: 0))
        )
        status.disk = AgentStatus.Disk(HealthFacts.Disk(free: 1 << 30, used: 1 << 20))
        status.certificates = ["phone": status.now]
        status.server.requestsLeft = 9
        (status.server.tokenExpires, status.server.keyCreated) = (status.now, status.now)
        status.memory = AgentStatus.Memory(residentBytes: 2, settledBytes: 1)
        let zones =
            #"{"source":"machine","version":"2026a","folder":"/z","local":"UTC","local_source":"TZ","local_problem":"is not."}"#
        status.timeZones = try JSONDecoder().decode(AgentStatus.TimeZones.self, from: Data(zones.utf8))
        let accounts =
            #"{"active":2,"paused":1,"due":1,"stale":0,"without_address":0,"oldest_due":"2026-01-01T00:00:00.000Z","round_seconds":0.5,"round_requests":5,"shared_requests":1,"shared_polls":7}"#
        status.accounts = try JSONDecoder().decode(AgentStatus.Accounts.self, from: Data(accounts.utf8))
        status.outbox.waiting = ["phone": .init(notifications: 1, since: status.now, nextAttempt: status.now)]
        status.outbox.waiting?["phone"]?.changes = 3
        status.polls["starred_projects"]?.failingSince = status.now
        status.polls["starred_projects"]?.skippedSince = status.now
        status.polls["starred_projects"]?.ownProjects = 100
        status.polls["starred_projects"]?.projectsLeftOut = true
        status.digests = status.digests.filter { $0.key == "weekly" }
        let reply = try await withAdmin(FakeAgent { [status] in $0.status = status }) {
            try await $0.get("/api/v1/status")
        }
        let golden = """
            accounts.active accounts.due accounts.oldest_due accounts.paused accounts.round_requests accounts.round_seconds accounts.shared_polls accounts.shared_requests accounts.stale accounts.without_address \
            canary.every_seconds canary.last_arrival certificates.NAME clock.last_sync clock.server_time clock.skew_seconds clock.uncertainty_seconds digests.NAME.last_error_code \
            digests.NAME.last_run digests.NAME.last_status digests.NAME.next_run digests.NAME.timezone disk.database_bytes disk.free_bytes headline identity last_scrape \
            memory.resident_bytes memory.settled_bytes now \
            outbox.backpressure outbox.capacity outbox.claimed outbox.dead outbox.delivered outbox.given_up \
            outbox.last_day.acknowledged outbox.last_day.delivered outbox.last_day.failed outbox.last_day.stored \
            outbox.ledger_imbalance outbox.oldest_due outbox.oldest_pending outbox.pending outbox.quarantined \
            outbox.sink_last_success.NAME outbox.sink_reasons.NAME outbox.sinks.NAME outbox.waiting.NAME.changes \
            outbox.waiting.NAME.next_attempt \
            outbox.waiting.NAME.notifications outbox.waiting.NAME.since pid \
            polling_metrics.averageResponseTime polling_metrics.changesFound polling_metrics.lastPollTimestamp \
            polling_metrics.notificationsGenerated polling_metrics.pollsFailed polling_metrics.pollsSuccessful \
            polling_metrics.pollsTotal polling_metrics.throttlesHit polls.NAME.failing_since \
            polls.NAME.fetch_cursor_time polls.NAME.kind \
            polls.NAME.last_attempt polls.NAME.last_error polls.NAME.last_new polls.NAME.last_outcome polls.NAME.last_reason \
            polls.NAME.last_success polls.NAME.needs_action polls.NAME.next_run polls.NAME.own_projects polls.NAME.projects_left_out \
            polls.NAME.seen_until polls.NAME.skip_reason polls.NAME.skipped_since polls.NAME.stale polls.NAME.stale_after_seconds polls.NAME.watermark_time \
            problems[].command problems[].detail problems[].meaning problems[].problem problems[].reason problems[].runbook problems[].severity \
            problems[].since problems[].subject problems[].title problems[].until reasons \
            restarts.last_at restarts.last_cause restarts.last_day server.answers.failed server.answers.p95_seconds server.answers.requests \
            server.answers.usual_p95_seconds server.circuit server.dialect \
            server.key_created server.requests_left server.throttled_until server.token_expires started_at status \
            storage.encrypted storage.reencryption time_zones.folder time_zones.local time_zones.local_problem \
            time_zones.local_source time_zones.source time_zones.version version
            """.split(separator: " ").map(String.init)
        let object = try JSONSerialization.jsonObject(with: Data(reply.bytes))
        let paths = Self.paths(object).map {
            $0.replacing("polls.starred_projects.", with: "polls.NAME.").replacing(".phone", with: ".NAME")
                .replacing("digests.weekly.", with: "digests.NAME.")
        }
        #expect(paths.sorted() == golden)
        let described = APIDescription.made?.statusFields.map(\.path) ?? []
        #expect(Set(golden).subtracting(described) == [])
        let help = try await withAdmin(FakeAgent()) { try await $0.get("/help") }.text
        for path in golden { #expect(help.contains("<code>\(path)</code>"), "\(path) is not in the help") }
    }

    /// The paths of what is no object.
    private static func paths(_ value: Any, under path: String = "") -> [String] {
        if let first = (value as? [Any])?.first as? [String: Any] { return paths(first, under: path + "[]") }
        guard let object = value as? [String: Any] else { return [path] }
        return object.flatMap { paths($1, under: path.isEmpty ? $0 : "\(path).\($0)") }
    }

    @Test func headHasTheLengthWithoutTheBody() async throws {
        try await withAdmin(FakeAgent()) { probe in
            let get = try await probe.get("/api/v1/status")
            let head = try await probe.send(.HEAD, "/api/v1/status")
            #expect(head.status == 200)
            #expect(head.bytes.isEmpty)
            #expect(head.headers["Content-Length"] == [String(get.bytes.count)])
            #expect(get.bytes.count > 100)
        }
    }

    @Test(arguments: ["/", "/help", "/help/runbooks", "/metrics", "/-/ready", "/api/v1/status"])
    func otherMethodsAreNotAllowed(path: String) async throws {
        let reply = try await withAdmin(FakeAgent()) { try await $0.send(.POST, path, body: "x") }
        #expect(reply.status == 405)
        #expect(reply.headers["Allow"] == ["GET, HEAD"])
    }

    @Test(arguments: ["/nothing", "/metrics/", "//", "/api/v1/outbox", "/api/v1/identity", "/-/../metrics"])
    func whatIsNotThereIsASmallJSON404(path: String) async throws {
        let reply = try await withAdmin(FakeAgent()) { try await $0.get(path) }
        #expect(reply.status == 404)
        #expect(reply.headers["Content-Type"] == ["application/json"])
        #expect(reply.text.hasPrefix(#"{"error":{"kind":"not_found","#))
    }

    @Test func nothingIsChangedOverTheReadOnlyServer() async throws {
        let agent = FakeAgent()
        for path in ["/api/v1/reload", "/api/v1/polls/a/run", "/api/v1/outbox/retry", "/api/v1/stars"] {
            #expect(try await withAdmin(agent) { try await $0.send(.POST, path, body: "{}") }.status == 404)
        }
        #expect(agent.now.calls.isEmpty)
    }

    @Test(arguments: ["/metrics?name[]=%", "/metrics?name[]=%zz", "/%ff"])
    func aMalformedEscapeIsRefusedRatherThanLeftOut(target: String) async throws {
        let agent = FakeAgent()
        #expect(try await withAdmin(agent) { try await $0.get(target) }.status == 400)
        #expect(agent.now.queries.isEmpty)
    }

    @Test(arguments: ["/", "/help", "/help/runbooks/StarwatchPollStale", "/metrics", "/nothing"])
    func everyAnswerHasTheSecurityHeaders(path: String) async throws {
        let headers = try await withAdmin(FakeAgent()) { try await $0.get(path) }.headers
        #expect(headers["X-Content-Type-Options"] == ["nosniff"])
        #expect(headers["Referrer-Policy"] == ["no-referrer"])
        #expect(headers["Set-Cookie"].isEmpty)
        let policy = try #require(headers["Content-Security-Policy"].first)
        #expect(policy.hasPrefix("default-src 'none'; "))
        #expect(policy.contains("frame-ancestors 'none'"))
        #expect(!policy.contains("unsafe"))
    }

    @Test func thePagesStyleCarriesTheNonceOfItsPolicyAndANewOneEachTime() async throws {
        try await withAdmin(FakeAgent()) { probe in
            var nonces: Set<String> = []
            for _ in 0..<2 {
                let reply = try await probe.get("/")
                let policy = try #require(reply.headers["Content-Security-Policy"].first)
                let nonce = try #require(policy.split(separator: "'nonce-").last?.split(separator: "'").first)
                #expect(nonce.count >= 16)
                #expect(policy.contains("style-src 'nonce-\(nonce)'; script-src 'nonce-\(nonce)'; "))
                #expect(policy.contains("form-action 'none'; "))
                #expect(reply.text.contains("<style nonce=\"\(nonce)\">"))
                #expect(reply.text.contains("<script nonce=\"\(nonce)\">"))
                #expect(!reply.text.contains(" style="))
                nonces.insert(String(nonce))
            }
            #expect(nonces.count == 2)
        }
    }

    @Test func anAddressInUseIsOneClearSentence() async throws {
        let first = try HTTPServer(reading: FakeAgent(), listen: "127.0.0.1:0", logger: quiet)
        try await withRunning(first) { address in
            #expect(!address.hasSuffix(":0"))
            let second = try HTTPServer(reading: FakeAgent(), listen: address, logger: quiet)
            let error = await #expect(throws: AgentError.self) { try await withRunning(second) { _ in } }
            #expect(error == .addressInUse(address))
            #expect(error?.description.contains("in use") == true)
            #expect(await second.boundAddress() == nil)
        }
    }

    @Test func anAddressOfAnotherMachineIsOneClearSentence() async throws {
        let server = try HTTPServer(reading: FakeAgent(), listen: "192.0.2.1:0", logger: quiet)
        await #expect {
            try await withRunning(server) { _ in }
        } throws: {
            ($0 as? AgentError)?.message.hasPrefix("Cannot listen on") == true
        }
    }

    @Test func waitingForTheAddressCanBeCancelled() async throws {
        let server = try HTTPServer(reading: FakeAgent(), listen: "127.0.0.1:0", logger: quiet)
        let address = await withTaskGroup(of: String?.self) { group in
            group.addTask { await server.boundAddress() }
            group.cancelAll()
            return await group.next() ?? "none"
        }
        #expect(address == nil)
    }

    @Test(arguments: [
        "GET /metrics HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\nhalf",
        "GET /metrics HTTP/1.1\r\nHo",
        "GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n",
    ])
    func aClientThatHangsDoesNotHoldUpShutdown(request: String) async throws {
        let agent = FakeAgent { $0.metrics.body = [UInt8](repeating: 65, count: 64 * 1_048_576) }
        let server = try HTTPServer(
            reading: agent,
            listen: "127.0.0.1:0",
            settings: ServerSettings(shutdownGrace: .milliseconds(50)),
            logger: quiet
        )
        try await withThrowingTaskGroup(of: Void.self) { group in
            let held = AsyncStream<Void>.makeStream()
            group.addTask {
                try await withRunning(server) { _ in for await _ in held.stream {} }
            }
            let address = try #require(await server.boundAddress())
            try await HTTPProbe.holding(address, request) {
                _ = try await HTTPProbe(address: address).get("/-/ready")
                held.continuation.finish()
                // The client lives on until the server is gone.
                try await group.waitForAll()
            }
        }
    }
}
