import Foundation
import MetricsTestKit
import StarwatchCore
import StarwatchTestKit
import StarwatchTransport
import Synchronization
import Testing

@testable import StarwatchPolling

@Suite struct PollRequestTests {
    struct Order: Encodable, Sendable { var after: String }

    private func post() -> PollRequest<Order, ReleaseFeed> {
        var request = PollRequest<Order, ReleaseFeed>(endpoint: "/changes", method: .post)
        request.body = { _ in Order(after: "1") }
        return request
    }

    @Test func anAnswerIsDecodedCheckedAndTransformed() async throws {
        let bench = HostBench()
        bench.server.answer(.json(#"{"items": ["b", "a"]}"#))
        var request = bench.request
        request.schema.check = { $0.items.isEmpty ? [ValidationIssue(path: "$.items", problem: .missing)] : [] }
        request.transform = { ReleaseFeed(items: $0.items.sorted()) }
        let result = await bench.manager.execute(request, context: bench.context)
        #expect(result.value == ReleaseFeed(items: ["a", "b"]))
        #expect(result.isSuccess && result.metadata.retryCount == 0)
        #expect(result.metadata.startedAt == ManualClock.start)
        #expect(result.metadata.requestID == bench.server.requests[0].header("X-Request-ID"))
        #expect(bench.server.requests[0].url == "https://feeds.example/feed.json")
        #expect(bench.server.requests[0].method == .get && bench.server.requests[0].body == nil)
    }

    @Test(arguments: [
        (#"{"items": ["a", 7]}"#, "$.items[1]: wrong_type"), (#"{}"#, "$.items: missing"),
        (#"{"items": null}"#, "$.items: missing"), ("html", "$: invalid"), (#"{"items": []}"#, "$.items: invalid"),
    ])
    func anAnswerThatIsNotWhatTheSchemaSaysIsRefusedWithItsPathsAndNotTriedAgain(
        body: String,
        issue: String
    ) async throws {
        let bench = HostBench()
        bench.server.answer(.json(body))
        var request = bench.request
        request.schema = ResponseSchema {
            $0.items.isEmpty ? [ValidationIssue(path: "$.items", problem: .invalid)] : []
        }
        let error = try #require(await bench.manager.execute(request, context: bench.context).error)
        #expect(error.code == .validation && error.message == "Response validation failed" && !error.isRetryable)
        #expect(error.issues.map(\.description) == [issue])
        #expect(bench.server.requests.count == 1)
    }

    @Test func aPageOfHTMLIsNamedAsSuch() async throws {
        let bench = HostBench()
        bench.server.answer(.json("\n <!DOCTYPE html><title>Log in</title>"))
        let error = try #require(await bench.manager.execute(bench.request, context: bench.context).error)
        #expect(error.code == .validation && !error.isRetryable)
        #expect(error.message.hasPrefix("The answer is a page of HTML and no JSON;"))
        #expect(error.issues.map(\.description) == ["$: unreadable"])
    }

    @Test(arguments: [
        ("Tally/1.2", "Tally/1.2 Starwatch/"), ("my\r\ntally", "mytally Starwatch/"), ("\u{1F389}", "Starwatch/"),
    ])
    func theHostProgramIsNamedFirst(host: String, begins: String) {
        let names = ClientNames(host: host)
        #expect(names.userAgent == begins + AgentVersion.current)
        #expect(names.clientVersion == "Starwatch/" + AgentVersion.current)
    }

    @Test(arguments: [
        PollRequest<Order, ReleaseFeed>(endpoint: ""), PollRequest(endpoint: "feed"),
        {
            var request = PollRequest<Order, ReleaseFeed>(endpoint: "/feed")
            request.body = { _ in Order(after: "1") }
            return request
        }(),
        {
            var request = PollRequest<Order, ReleaseFeed>(endpoint: "/feed", method: .post)
            request.authorization = .contextOrAnonymous
            return request
        }(),
        {
            var request = PollRequest<Order, ReleaseFeed>(endpoint: "/feed", method: .delete)
            request.isConditional = true
            return request
        }(),
        {
            var request = PollRequest<Order, ReleaseFeed>(endpoint: "/feed")
            request.headers["X-Name"] = "two\r\nlines"
            return request
        }(),
    ])
    func aRequestThatCannotBeSentIsInvalid(request: PollRequest<Order, ReleaseFeed>) async throws {
        // The real client looks at the header, before anything is sent.
        let clock = ManualClock(mode: .jumping)
        let http = try HTTPClient(clock: { ClockReading(wall: clock.now, monotonic: clock.monotonic) })
        let manager = PollManager(http: http, store: nil, time: clock)
        let result = await manager.execute(request, context: PollingContext(server: "http://127.0.0.1:9"))
        #expect(result.error?.code == .invalidRequest)
        #expect(result.error?.isRetryable == false)
        http.shutdown()
    }

    @Test func aServerThatIsNoURLIsInvalid() async throws {
        let bench = HostBench()
        let result = await bench.manager.execute(bench.request, context: PollingContext(server: "feeds.example"))
        #expect(result.error?.code == .invalidRequest && bench.server.requests.isEmpty)
    }

    @Test(arguments: PollMethod.allCases) func everyMethodIsSent(method: PollMethod) async throws {
        let bench = HostBench()
        var request = PollRequest<Data, ReleaseFeed>(endpoint: "/feed", method: method)
        if method == .post || method == .put { request.body = { _ in Data("raw".utf8) } }
        request.query = { _ in [("q", "a b"), ("n", "1")] }
        request.headers = ["X-App": "1", "content-type": "text/plain", "X-Request-ID": "mine"]
        _ = await bench.manager.execute(request, context: bench.context)
        let sent = bench.server.requests[0]
        #expect(sent.method.rawValue == method.rawValue)
        #expect(sent.url == "https://feeds.example/feed?q=a%20b&n=1")
        #expect(sent.body == (request.body == nil ? nil : Array("raw".utf8)))
        #expect(sent.header("X-App") == "1" && sent.header("X-Request-ID") != "mine")
        #expect(sent.headers.filter { $0.name.lowercased() == "content-type" }.map(\.value) == ["text/plain"])
        #expect((sent.header("X-Idempotency-Key") != nil) == (method == .post))
        #expect(sent.timeout == .seconds(30))
    }

    @Test func anIdempotencyKeyIsMadeForAPostAndStaysThroughItsTries() async throws {
        let bench = HostBench()
        bench.server.script(.status(500), .fails(.timeout))
        var request = post()
        request.timeout = .seconds(5)
        let result = await bench.manager.execute(request, context: bench.context)
        #expect(result.isSuccess && result.metadata.retryCount == 2)
        let sent = bench.server.requests
        #expect(sent.count == 3 && sent.allSatisfy { $0.timeout == .seconds(5) })
        #expect(Set(sent.map { $0.header("X-Idempotency-Key") }).count == 1)
        #expect(Set(sent.map { $0.header("X-Request-ID") }).count == 3)
        #expect(sent.allSatisfy { $0.body == Array(#"{"after":"1"}"#.utf8) })
        request.idempotencyKey = "mine"
        _ = await bench.manager.execute(request, context: bench.context)
        #expect(bench.server.requests[3].header("X-Idempotency-Key") == "mine")
        #expect(sent[0].header("X-Idempotency-Key") != "mine")
    }

    /// A program without an agent has no other metrics of its polls.
    @Test func everyRequestRetryAndWaitIsReportedToTheProgramsMetrics() async throws {
        let bench = HostBench(requestsPerMinute: 2)
        let metrics = bench.metrics
        func total(_ name: String, _ labels: (String, String)...) throws -> Int64 {
            try metrics.expectCounter("starwatch_host_\(name)_total", labels).totalValue
        }
        bench.server.script(.status(500))
        #expect(await bench.manager.execute(bench.request, context: bench.context).isSuccess)
        #expect(try total("requests", ("result", "server_error")) == 1)
        #expect(try total("requests", ("result", "ok")) == 1)
        #expect(try total("retries", ("reason", "server_error")) == 1)
        #expect(try metrics.expectTimer("starwatch_host_request_seconds").values.count == 2)
        // The third request of the minute waits for the next one.
        #expect(await bench.manager.execute(bench.request, context: bench.context).isSuccess)
        #expect(try total("throttled", ("source", "client")) == 1)
        #expect(
            try metrics.expectTimer("starwatch_host_throttle_wait_seconds", [("source", "client")]).values.count == 1
        )
        #expect(try total("polls", ("outcome", "ok")) == 2)
        #expect(try metrics.expectTimer("starwatch_host_poll_seconds").values.count == 2)
    }

    @Test func theClassOfAFailureSaysHowOftenItIsTried() async throws {
        for (reply, tries, code) in [
            (ScriptedServer.Reply.status(500), 3, PollError.Code.server), (.status(404), 1, .refused),
            (.fails(.connect), 3, .network), (.status(429, headers: [("Retry-After", "1")]), 5, .rateLimitExceeded),
            (.fails(.tooLarge), 1, .validation), (.status(301), 1, .refused), (.status(304), 1, .validation),
        ] {
            let bench = HostBench()
            bench.server.answer(reply)
            let result = await bench.manager.execute(bench.request, context: bench.context)
            #expect(result.error?.code == code && bench.server.requests.count == tries, "\(reply)")
            #expect(result.metadata.retryCount == tries - 1)
        }
    }

    @Test func aRequestsOwnRetryPolicyStandsInForTheClasses() async throws {
        for (delay, waits) in [
            (RetryPolicy.Delay.linear(.seconds(1)), [1, 2, 3]), (.exponential(.seconds(1)), [1, 2, 4]),
        ] {
            let bench = HostBench()
            bench.server.answer(.status(500))
            var request = bench.request
            request.retry = RetryPolicy(attempts: 4, delay: delay)
            _ = await bench.manager.execute(request, context: bench.context)
            #expect(bench.server.requests.count == 4)
            #expect(bench.clock.slept == waits.map { Duration.seconds($0) })
        }
        let common = HostBench(retry: RetryPolicy(attempts: 3, delay: .linear(.seconds(5))))
        common.server.answer(.status(500))
        _ = await common.manager.execute(common.request, context: common.context)
        #expect(common.clock.slept == [.seconds(5), .seconds(10)])
        var own = common.request
        own.retry = RetryPolicy(attempts: 1, delay: .none)
        _ = await common.manager.execute(own, context: common.context)
        #expect(common.server.requests.count == 4)
        // Errors that a retry cannot fix are not retried, and no retry precedes the server's wait.
        let bench = HostBench()
        bench.server.script(.status(400), .status(429, headers: [("Retry-After", "7")]))
        var request = bench.request
        request.retry = RetryPolicy(attempts: 0, delay: .exponential(.milliseconds(1)))
        #expect(await bench.manager.execute(request, context: bench.context).error?.code == .refused)
        request.retry = RetryPolicy(attempts: 2, delay: .exponential(.milliseconds(1)))
        #expect(await bench.manager.execute(request, context: bench.context).isSuccess)
        #expect(bench.clock.slept.reduce(.zero, +) >= .seconds(7))
    }

    @Test func aWaitThatIsTooLongIsSaidAndKeptForEveryRequestToThatServer() async throws {
        let bench = HostBench()
        bench.server.script(.status(503, headers: [("Retry-After", "300")]))
        let first = await bench.manager.execute(bench.request, context: bench.context)
        #expect(
            first.error?.isRetryable == true && first.error.flatMap(\.retryAfter).map { $0 >= .seconds(300) } == true
        )
        let second = await bench.manager.execute(post(), context: bench.context)
        #expect(second.error?.code == .rateLimitExceeded)
        #expect(second.error?.retryAfter == .seconds(300) && bench.server.requests.count == 1)
        let elsewhere = await bench.manager.execute(bench.request, context: PollingContext(server: "https://b.example"))
        #expect(elsewhere.isSuccess)
        bench.clock.advance(by: .seconds(301))
        #expect(await bench.manager.execute(bench.request, context: bench.context).isSuccess)
    }

    @Test func noMoreRequestsGoInAMinuteThanAreAllowed() async throws {
        let bench = HostBench(requestsPerMinute: 3)
        for _ in 0..<4 { #expect(await bench.manager.execute(bench.request, context: bench.context).isSuccess) }
        #expect(bench.clock.slept.reduce(.zero, +) > .seconds(60))
    }

    @Test(.timeLimit(.minutes(5))) func aRequestThatIsGivenUpWhileItWaitsLeavesItsPlace() async throws {
        let bench = HostBench(requestsPerMinute: 1)
        #expect(await bench.manager.execute(bench.request, context: bench.context).isSuccess)
        bench.clock.setMode(.waiting)
        let waiting = Task { await bench.manager.execute(bench.request, context: bench.context) }
        await bench.clock.sleepers(atLeast: 1)
        waiting.cancel()
        #expect(await waiting.value.error?.code == .cancelled)
        bench.clock.advance(by: .seconds(61))
        bench.clock.setMode(.jumping)
        let slept = bench.clock.slept.count
        #expect(await bench.manager.execute(bench.request, context: bench.context).isSuccess)
        #expect(bench.clock.slept.count == slept)
    }

    @Test func aServerThatIsDownIsLeftAloneUntilItsCircuitTriesAgain() async throws {
        let bench = HostBench()
        bench.server.answer(.status(500))
        for _ in 0..<5 { _ = await bench.manager.execute(bench.request, context: bench.context) }
        let asked = bench.server.requests.count
        let error = await bench.manager.execute(bench.request, context: bench.context).error
        #expect(error?.code == .circuitOpen && error?.isRetryable == true && error?.retryAfter == .seconds(60))
        #expect(bench.server.requests.count == asked)
        bench.server.answer(.json(#"{"items": []}"#))
        bench.clock.advance(by: .seconds(60))
        #expect(await bench.manager.execute(bench.request, context: bench.context).isSuccess)
    }

    @Test func noContentAndNothingNewAreNoFailures() async throws {
        let bench = HostBench()
        var request = bench.request
        request.isConditional = true
        bench.server.script(.json(#"{"items": ["a"]}"#, headers: [("ETag", "\"1\"")]), .status(304), .status(204))
        #expect(await bench.manager.execute(request, context: bench.context).value == ReleaseFeed(items: ["a"]))
        let second = await bench.manager.execute(request, context: bench.context)
        guard case .notModified = second.outcome else {
            throw second.error ?? PollError(.execution, "", isRetryable: false)
        }
        guard case .empty = await bench.manager.execute(request, context: bench.context).outcome else {
            throw PollError(.execution, "", isRetryable: false)
        }
        #expect(bench.server.requests.map { $0.header("If-None-Match") } == [nil, "\"1\"", "\"1\""])
        // Another identity has seen nothing yet.
        var other = bench.context
        other.account = TestAccount.other
        _ = await bench.manager.execute(request, context: other)
        #expect(bench.server.requests[3].header("If-None-Match") == nil)
    }

    @Test func theHostNamesItsErrors() async throws {
        let bench = HostBench()
        bench.server.script(.status(404), .json("[]"))
        var request = bench.request
        request.schema.transformError = { error in
            PollError(PollError.Code(rawValue: "GONE_\(error.status ?? 0)"), "It is gone.", isRetryable: true)
        }
        #expect(await bench.manager.execute(request, context: bench.context).error?.code.rawValue == "GONE_404")
        #expect(await bench.manager.execute(request, context: bench.context).error?.code.rawValue == "GONE_200")
    }

    @Test func whatAClosureOfTheHostThrowsIsAnExecutionError() async throws {
        struct Broken: Error {}
        let bench = HostBench()
        var request = bench.request
        request.query = { _ in throw Broken() }
        let error = await bench.manager.execute(request, context: bench.context).error
        #expect(error?.code == .execution && error?.isRetryable == true && error?.underlying is Broken)
        #expect(bench.server.requests.isEmpty)
        request = bench.request
        request.transform = { _ in throw Broken() }
        #expect(await bench.manager.execute(request, context: bench.context).error?.underlying is Broken)
    }

    @Test func errorsAndMetadataAreEncodedUnderTheirNames() throws {
        var error = PollError(.rateLimitExceeded, "Slow down.", isRetryable: true, retryAfter: .milliseconds(1500))
        error.issues = [ValidationIssue(path: "$.a", problem: .missing)]
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        #expect(
            String(decoding: try encoder.encode(error), as: UTF8.self)
                == #"{"code":"RATE_LIMIT_EXCEEDED","details":["$.a: missing"],"message":"Slow down.","retryAfter":2,"retryable":true}"#
        )
        let metadata = PollMetadata(
            requestID: "r",
            startedAt: ManualClock.start,
            duration: .milliseconds(1250),
            retryCount: 2
        )
        #expect(
            String(decoding: try encoder.encode(metadata), as: UTF8.self)
                == #"{"duration":1250,"requestId":"r","retryCount":2,"timestamp":"2026-01-01T12:00:00.000Z"}"#
        )
    }

    // MARK: - Pages

    @Test func everyPageIsAskedForWithABodyMadeForIt() async throws {
        let bench = HostBench()
        bench.server.script(
            .json(#"{"items": ["a"]}"#),
            .status(500),
            .json(#"{"items": ["b"]}"#),
            .json(#"{"items": []}"#)
        )
        let last = Mutex("0")
        var request = post()
        request.body = { _ in Order(after: last.withLock { $0 }) }
        let result = await bench.manager.execute(request, context: bench.context) { feed in
            guard let item = feed.items.last else { return false }
            last.withLock { $0 = item }
            return true
        }
        #expect(result.value == 3 && result.metadata.retryCount == 1)
        #expect(
            bench.server.requests.map { String(decoding: $0.body ?? [], as: UTF8.self) }
                == ["0", "a", "a", "b"].map { #"{"after":"\#($0)"}"# }
        )
    }

    @Test func pagesWithoutAnEndAreAFailure() async throws {
        let bench = HostBench(requestsPerMinute: 1000)
        let result = await bench.manager.execute(bench.request, context: bench.context) { _ in true }
        #expect(result.error?.code == .execution && bench.server.requests.count == PollManager.pageCap)
    }

    // MARK: - Tokens

    @Test func aRefusedTokenIsRenewedOnce() async throws {
        let bench = HostBench()
        bench.server.script(.status(401))
        let asked = Mutex<[Bool]>([])
        var context = bench.context
        context.tokens = .bearer { _, wasRefused in
            asked.withLock { $0.append(wasRefused) }
            return wasRefused ? "second" : "first"
        }
        #expect(await bench.manager.execute(bench.request, context: context).isSuccess)
        #expect(bench.server.requests.map { $0.header("Authorization") } == ["Bearer first", "Bearer second"])
        #expect(asked.withLock { $0 } == [false, true])
        bench.server.answer(.status(401))
        let error = await bench.manager.execute(bench.request, context: context).error
        #expect(error?.code == .unauthorized && error?.isRetryable == false && bench.server.requests.count == 4)
    }

    @Test func nothingGoesWithoutTheTokenItShouldHave() async throws {
        let bench = HostBench()
        var context = bench.context
        context.tokens = .bearer { _, _ in nil }
        var request = bench.request
        #expect(await bench.manager.execute(request, context: context).error?.code == .noToken)
        #expect(bench.server.requests.isEmpty)
        request.authorization = .contextOrAnonymous
        #expect(await bench.manager.execute(request, context: context).isSuccess)
        request.authorization = .tokens(.bearer { _, _ in "own" })
        _ = await bench.manager.execute(request, context: context)
        request.authorization = .anonymous
        _ = await bench.manager.execute(request, context: context)
        #expect(bench.server.requests.map { $0.header("Authorization") } == [nil, "Bearer own", nil])
    }
}
