import StarwatchCore
import StarwatchStore
import StarwatchTestKit
import Synchronization
import Testing

@testable import StarwatchPolling

@Suite struct PollScheduleTests {
    /// The results that a schedule handed over, to be awaited one after the other.
    struct Results: Sendable {
        let stream: AsyncStream<PollResult<ReleaseFeed>>
        let take: AsyncStream<PollResult<ReleaseFeed>>.Continuation

        init() { (stream, take) = AsyncStream.makeStream(of: PollResult<ReleaseFeed>.self) }

        func next() async -> PollResult<ReleaseFeed> {
            for await result in stream { return result }
            fatalError("The stream never ends.")
        }
    }

    private func schedule(
        _ bench: HostBench,
        _ results: Results,
        every interval: Duration = .seconds(60),
        _ change: (inout PollSchedule<Never, ReleaseFeed>) -> Void = { _ in }
    ) -> PollSchedule<Never, ReleaseFeed> {
        let context = bench.context
        var poll = PollSchedule(name: "feed", request: bench.request, timing: .every(interval)) {
            context
        } handle: { result, _ in
            results.take.yield(result)
        }
        poll.request.isConditional = true
        change(&poll)
        return poll
    }

    /// Runs the manager while `body` runs.
    private func running(_ manager: PollManager, _ body: () async throws -> Void) async throws {
        let run = Task { try await manager.run() }
        do { try await body() } catch {
            run.cancel()
            throw error
        }
        run.cancel()
        try await run.value
    }

    @Test func aScheduleRunsAtOnceAndThenAtItsInterval() async throws {
        let (bench, results) = (HostBench(.waiting), Results())
        let id = try await bench.manager.schedule(schedule(bench, results))
        #expect(id.rawValue == "feed")
        #expect(await bench.manager.status(of: id)?.state == .idle)
        try await running(bench.manager) {
            #expect(await results.next().isSuccess)
            await bench.clock.sleepers(atLeast: 1)
            #expect(await bench.manager.status(of: id)?.lastSuccess == ManualClock.start)
            #expect(await bench.manager.status(of: id)?.nextRun == ManualClock.start + .seconds(60))
            await bench.clock.run(until: ManualClock.start + .seconds(59))
            #expect(bench.server.requests.count == 1)
            await bench.clock.run(until: ManualClock.start + .seconds(60))
            #expect(await results.next().isSuccess)
        }
        #expect(bench.server.requests.count == 2)
    }

    /// A circuit that is half open lets one request through.
    @Test(.timeLimit(.minutes(5)))
    func aScheduleDueWhileAnotherRequestTriesTheServerIsMadeSoonAfter() async throws {
        let (bench, results) = (HostBench(), Results())
        bench.server.answer(.status(500))
        for _ in 0..<5 { _ = await bench.manager.execute(bench.request, context: bench.context) }
        bench.server.answer(.json(#"{"items": []}"#))
        bench.clock.advance(by: .seconds(60))
        bench.clock.setMode(.waiting)
        bench.server.hold()
        let asked = bench.server.requests.count
        let probe = Task { await bench.manager.execute(bench.request, context: bench.context) }
        await bench.server.requests(atLeast: asked + 1)
        try await bench.manager.schedule(
            schedule(bench, results, every: .seconds(86_400)) { $0.request = PollRequest(endpoint: "/other.json") }
        )
        try await running(bench.manager) {
            #expect(await results.next().error?.code == .circuitOpen)
            bench.server.release()
            #expect(await probe.value.isSuccess)
            await bench.clock.run(until: bench.clock.now + .seconds(6))
            #expect(await results.next().isSuccess)
        }
    }

    @Test func aScheduleThatIsAddedWhileTheManagerRunsIsFollowedToo() async throws {
        let (bench, results) = (HostBench(.waiting), Results())
        try await running(bench.manager) {
            try await bench.manager.schedule(schedule(bench, results))
            #expect(await results.next().isSuccess)
        }
    }

    @Test func aNameIsMadeWhereNoneIsGiven() async throws {
        let (bench, results) = (HostBench(.waiting), Results())
        let id = try await bench.manager.schedule(schedule(bench, results) { $0.name = nil })
        #expect(id.rawValue.wholeMatch(of: /poll_1767268800000_[0-9a-z]{9}/) != nil)
        let other = try await bench.manager.schedule(schedule(bench, results) { $0.name = nil })
        #expect(id != other)
    }

    @Test func whatCannotBeScheduledIsSaid() async throws {
        let (bench, results) = (HostBench(.waiting), Results())
        try await bench.manager.schedule(schedule(bench, results))
        for change: (inout PollSchedule<Never, ReleaseFeed>) -> Void in [
            { _ in }, { $0.name = "No Name" }, { ($0.name, $0.timing) = ("a", .cron("61 * * * *", timezone: "UTC")) },
            { ($0.name, $0.timing) = ("a", .cron("* * * * *", timezone: "Mars/Base")) },
        ] {
            let error = await #expect(throws: PollError.self) {
                try await bench.manager.schedule(schedule(bench, results, change))
            }
            #expect(error?.code == .schedule && error?.message.hasPrefix("Failed to schedule poll: ") == true)
        }
        let error = await #expect(throws: PollError.self) {
            try await bench.manager.schedule(
                schedule(bench, results) {
                    $0.name = "b"
                    $0.request.endpoint = "feed"
                }
            )
        }
        #expect(error?.code == .invalidRequest)
    }

    @Test func cancellingEndsARunUnderWayAndForgetsTheSchedule() async throws {
        let (bench, results) = (HostBench(.waiting), Results())
        bench.server.hold()
        let id = try await bench.manager.schedule(schedule(bench, results))
        try await running(bench.manager) {
            await bench.server.requests(atLeast: 1)
            #expect(await bench.manager.status(of: id)?.state == .running)
            try await bench.manager.cancel(id)
            await bench.server.cancelled.reached(1)
        }
        #expect(await bench.manager.status(of: id) == nil)
        try await bench.manager.cancel(id)
        try await bench.manager.schedule(schedule(bench, results))
    }

    @Test func oneScheduleThatFailsLeavesTheOthersAlone() async throws {
        struct Broken: Error {}
        let (bench, results) = (HostBench(.waiting), Results())
        let context = bench.context
        let broken = try await bench.manager.schedule(
            PollSchedule(name: "broken", request: bench.request, timing: .every(.seconds(60))) {
                throw Broken()
            } handle: { _, _ in
            }
        )
        let refusing = try await bench.manager.schedule(
            PollSchedule(name: "refusing", request: bench.request, timing: .every(.seconds(60))) {
                context
            } handle: { _, _ in
                throw Broken()
            }
        )
        try await bench.manager.schedule(schedule(bench, results))
        try await running(bench.manager) {
            #expect(await results.next().isSuccess)
            await bench.clock.sleepers(atLeast: 3)
            for id in [broken, refusing] {
                let status = try #require(await bench.manager.status(of: id))
                #expect(status.consecutiveFailures == 1 && status.lastError == .execution)
                #expect(status.lastSuccess == nil && status.lastAttempt == ManualClock.start)
            }
        }
    }

    @Test func anAnswerThatWasNotHandledComesAgain() async throws {
        struct Broken: Error {}
        let (bench, results) = (HostBench(.waiting), Results())
        let isBroken = Mutex(true)
        bench.server.answer(.json(#"{"items": ["a"]}"#, headers: [("ETag", "\"1\"")]))
        try await bench.manager.schedule(
            schedule(bench, results) { poll in
                let handle = poll.handle
                poll.handle = { result, context in
                    // Asked before the test has the result, whereupon it mends the handler.
                    let fails = isBroken.withLock { $0 }
                    try await handle(result, context)
                    if fails { throw Broken() }
                }
            }
        )
        try await running(bench.manager) {
            _ = await results.next()
            isBroken.withLock { $0 = false }
            for _ in 0..<2 {
                await bench.clock.sleepers(atLeast: 1)
                await bench.clock.run(until: bench.clock.now + .seconds(60))
                _ = await results.next()
            }
        }
        #expect(bench.server.requests.map { $0.header("If-None-Match") } == [nil, nil, "\"1\""])
    }

    @Test func runsThatFallDueDuringARunAreOne() async throws {
        let (bench, results) = (HostBench(.waiting), Results())
        bench.server.hold()
        let id = try await bench.manager.schedule(schedule(bench, results))
        try await running(bench.manager) {
            await bench.server.requests(atLeast: 1)
            bench.clock.advance(by: .seconds(200))
            bench.server.release()
            _ = await results.next()
            await bench.clock.sleepers(atLeast: 1)
            #expect(bench.server.requests.count == 1)
            #expect(await bench.manager.status(of: id)?.nextRun == ManualClock.start + .seconds(240))
        }
    }

    @Test func noMoreRunsAreUnderWayThanAreAllowed() async throws {
        let (bench, results) = (HostBench(.waiting, maxConcurrentPolls: 2), Results())
        bench.server.hold()
        for name in ["a", "b", "c"] {
            try await bench.manager.schedule(
                schedule(bench, results) {
                    $0.name = name
                    $0.request.endpoint = "/" + name
                }
            )
        }
        try await running(bench.manager) {
            await bench.server.requests(atLeast: 2)
            for _ in 0..<100 { await Task.yield() }
            #expect(bench.server.requests.count == 2)
            bench.server.release()
            await bench.server.requests(atLeast: 3)
        }
    }

    @Test func aServerThatAsksForAWaitIsAskedWhenItIsOver() async throws {
        let (bench, results) = (HostBench(.waiting), Results())
        bench.server.script(.status(503, headers: [("Retry-After", "1000")]))
        let id = try await bench.manager.schedule(schedule(bench, results, every: .seconds(86_400)))
        try await running(bench.manager) {
            #expect(await results.next().error?.isRetryable == true)
            await bench.clock.sleepers(atLeast: 1)
            #expect(await bench.manager.status(of: id)?.state == .deferred)
            // Half of the jitter: never earlier than asked, and up to a tenth later.
            await bench.clock.run(until: ManualClock.start + .seconds(1049))
            #expect(bench.server.requests.count == 1)
            await bench.clock.run(until: ManualClock.start + .seconds(1051))
            #expect(await results.next().isSuccess)
        }
    }

    @Test func whereNothingHappensFewerRunsAreMade() async throws {
        let (bench, results) = (HostBench(.waiting), Results())
        bench.server.answer(.status(204))
        try await bench.manager.schedule(
            schedule(bench, results) { $0.slowDown = .init(afterEmptyRuns: 2, factor: 3) }
        )
        try await running(bench.manager) {
            _ = await results.next()
            await bench.clock.sleepers(atLeast: 1)
            await bench.clock.run(until: ManualClock.start + .seconds(60))
            _ = await results.next()
            await bench.clock.sleepers(atLeast: 1)
            // Minutes 2 and 3 are left out.
            await bench.clock.run(until: ManualClock.start + .seconds(239))
            #expect(bench.server.requests.count == 2)
            await bench.clock.run(until: ManualClock.start + .seconds(240))
            _ = await results.next()
        }
        #expect(bench.server.requests.count == 3)
    }

    @Test func anAnswerForAFormerIdentityIsNobodys() async throws {
        let (bench, results) = (HostBench(.waiting), Results())
        let account = Mutex<DID?>(TestAccount.ethr)
        bench.server.hold()
        let id = try await bench.manager.schedule(
            schedule(bench, results) { poll in
                poll.context = { PollingContext(server: HostBench.server, account: account.withLock { $0 }) }
                poll.handle = { _, context in
                    #expect(context.account == TestAccount.other)
                    results.take.yield(
                        PollResult(
                            .empty,
                            metadata: .init(requestID: "", startedAt: ManualClock.start, duration: .zero, retryCount: 0)
                        )
                    )
                }
            }
        )
        try await running(bench.manager) {
            await bench.server.requests(atLeast: 1)
            account.withLock { $0 = TestAccount.other }
            bench.server.release()
            await bench.clock.sleepers(atLeast: 1)
            #expect(await bench.manager.status(of: id)?.lastSuccess == nil)
            await bench.clock.run(until: ManualClock.start + .seconds(60))
            _ = await results.next()
        }
    }

    // MARK: - Restart

    @Test func aRestartGoesOnWithTheSameNameWhereItWas() async throws {
        let folder = try TestFolder()
        let clock = ManualClock()
        let server = ScriptedServer(clock)
        server.answer(.json(#"{"items": ["a"]}"#, headers: [("ETag", "\"1\""), ("Last-Modified", "yesterday")]))
        for life in 0..<2 {
            let store = try Store(StoreOptions(path: folder.path("host.db")))
            let manager = PollManager(http: server, store: store, time: clock)
            let results = Results()
            let id = try await manager.schedule(
                PollSchedule(
                    name: "feed",
                    request: {
                        var request = PollRequest<Never, ReleaseFeed>(endpoint: "/feed.json")
                        request.isConditional = true
                        return request
                    }(),
                    timing: .every(.seconds(60))
                ) {
                    PollingContext(server: HostBench.server)
                } handle: { result, _ in
                    results.take.yield(result)
                }
            )
            try await running(manager) {
                if life == 1 {
                    let status = try #require(await manager.status(of: id))
                    #expect(status.lastSuccess == ManualClock.start)
                    #expect(status.nextRun == ManualClock.start + .seconds(60))
                    // Nothing at once: the run of this minute was made before the restart.
                    await clock.sleepers(atLeast: 1)
                    #expect(server.requests.count == 1)
                    await clock.run(until: ManualClock.start + .seconds(60))
                }
                #expect(await results.next().isSuccess)
                await clock.sleepers(atLeast: 1)
            }
            await store.close()
        }
        #expect(server.requests.map { $0.header("If-None-Match") } == [nil, "\"1\""])
        #expect(server.requests.map { $0.header("If-Modified-Since") } == [nil, "yesterday"])
    }

    @Test func whatAServerAskedForOutlivesARestart() async throws {
        let folder = try TestFolder()
        let clock = ManualClock(mode: .jumping)
        let server = ScriptedServer(clock)
        server.script(.status(429, headers: [("Retry-After", "1000")]))
        for expected in [true, false] {
            let store = try Store(StoreOptions(path: folder.path("host.db")))
            let manager = PollManager(http: server, store: store, time: clock)
            let request = PollRequest<Never, ReleaseFeed>(endpoint: "/feed.json")
            let result = await manager.execute(request, context: PollingContext(server: HostBench.server))
            #expect(result.error?.code == .rateLimitExceeded, "\(expected)")
            await store.close()
        }
        #expect(server.requests.count == 1)
    }
}
