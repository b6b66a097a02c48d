import MockEndorser
import StarwatchCore
import StarwatchStore
import StarwatchTelemetry
import Synchronization
import Testing

@testable import Starwatch

/// Reloads by SIGHUP and by the control API.
@Suite struct ReloadTests {
    private static func options(_ folder: TestFolder) -> AgentOptions {
        var options = AgentOptions()
        options.server.url = "http://127.0.0.1:9"
        options.storage.path = folder.path("starwatch.db")
        options.polls = [PollOptions(name: PollName("starred_projects")!, kind: .starredProjects)]
        options.delivery.sinks = [SinkOptions(name: "log", kind: .log)]
        options.clock.source = .system
        options.http.listen = "127.0.0.1:0"
        options.control.socket = folder.path("control.sock")
        options.log.level = .critical
        return options
    }

    @Test(.timeLimit(.minutes(5)))
    func aRunEndsWithTheOptionsOfTheReload() async throws {
        let folder = try TestFolder()
        let clock = ManualClock()
        let options = Self.options(folder)
        var changed = options
        changed.delivery.groupInterval = .seconds(60)
        changed.log.level = .error
        let agent = try await Agent(options: options, time: clock, reload: { [changed] in changed })
        async let next = agent.run()
        // The visit and housekeeping wait.
        await clock.sleepers(atLeast: 2)
        try await agent.reload()
        #expect(try await next == changed)
        #expect(agent.metrics.reloadSuccessful.value == 1)
    }

    @Test(.timeLimit(.minutes(5)))
    func aReloadDoesNotLookLikeARestart() async throws {
        try await World.with(.canonical, clock: .waiting, mock: { $0.clockSkew = .seconds(90) }) { world in
            var options = world.options
            options.polls[0].timing = .every(.seconds(3600))
            let reload: @Sendable () throws(AgentError) -> AgentOptions = { [options] () throws(AgentError) in options }
            options.log.level = .notice
            let first = try await Agent(
                options: options,
                time: world.clock,
                reload: reload,
                logSinks: [world.log],
                dependencies: AgentDependencies().patient
            )
            async let next = first.run()
            try await world.mock.waitForRequests(1, to: .plansChanged)
            await world.rest(first)
            let before = await first.page()
            let started = await first.state().startedAt
            try await first.reload()
            _ = try await next
            // The end of the run counts too, for example its last transactions.
            let end = MetricsPage(first.metrics.registry.page(.text))
            world.clock.advance(by: .seconds(20))
            let second = try await Agent(
                options: options,
                time: world.clock,
                after: first,
                reload: reload,
                logSinks: [world.log],
                dependencies: AgentDependencies().patient
            )
            let after = await second.page()
            #expect(await second.state().startedAt == started)
            for (series, value) in end.values where series.name.hasSuffix("_total") || series.name.hasSuffix("_count") {
                #expect((after.values[series] ?? -1) >= value, "\(series)")
            }
            for name in [
                "process_start_time_seconds", "starred_projects_api_throughput_rps", "starwatch_clock_skew_seconds",
                "starwatch_clock_last_sync_timestamp_seconds",
            ] {
                #expect(after[name] == before[name] && after[name] != 0, "\(name)")
            }
            #expect(after.series(of: "starwatch_build_info") == before.series(of: "starwatch_build_info"))

            async let last = second.run()
            await world.rest(second)
            second.stop()
            #expect(try await last == nil)
            func lines(_ event: String) -> Int { world.log.lines.filter { $0.contains("\"\(event)\"") }.count }
            #expect(lines("agent.started") == 1)
            #expect(lines("config.reloaded") == 1)
            #expect(lines("agent.stopped") == 1)
        }
    }

    @Test func whatASinkAskedForIsKeptWhileItStaysTheSame() async throws {
        let folder = try TestFolder()
        let clock = ManualClock()
        var options = Self.options(folder)
        options.delivery.sinks = ["same", "moved", "other"].map {
            SinkOptions(name: $0, kind: .file(path: folder.path($0)))
        }
        let former = try await Agent(options: options, time: clock)
        for slot in former.process.sinks where slot.name != "other" {
            let later = SinkResult.unavailable(SinkFailure("Later.", .program), retryAfter: .seconds(600))
            _ = slot.change { $0.record(later, at: clock.now) }
        }
        await former.close()
        clock.advance(by: .seconds(10))
        options.delivery.sinks[1].kind = .file(path: folder.path("elsewhere"))
        let next = try await Agent(options: options, time: clock, after: former)
        let waits = next.process.sinks.map { $0.change { $0.admit(at: clock.now).waitUntil } }
        #expect(waits == [ManualClock.start + .seconds(600), nil, nil])
        await next.close()
    }

    @Test(.timeLimit(.minutes(5)))
    func aRefusedReloadKeepsTheRunGoingAndTheNextOneCounts() async throws {
        let folder = try TestFolder()
        let clock = ManualClock()
        let options = Self.options(folder)
        let isBroken = BrokenOnce()
        let agent = try await Agent(
            options: options,
            time: clock,
            reload: { () throws(AgentError) in
                if isBroken.take() {
                    throw AgentError(.configuration, "polls.starred_projects.every must be at least 1s.")
                }
                return options
            },
            dependencies: AgentDependencies().patient
        )
        async let next = agent.run()
        await clock.sleepers(atLeast: 2)
        await #expect(throws: ControlError(.invalid, "polls.starred_projects.every must be at least 1s.")) {
            try await agent.reload()
        }
        #expect(agent.metrics.reloadSuccessful.value == 0)
        #expect(agent.reloader.next == nil)
        #expect(await agent.topics.notReady() == ["signed_out"])
        #expect(await agent.state().reasons == ["reload_refused", "signed_out"])
        try await agent.reload()
        #expect(try await next == options)
    }

    /// A check of the file would find nothing, so the next command is another.
    @Test(.timeLimit(.minutes(5)))
    func aReloadThatNeedsARestartSaysSo() async throws {
        let folder = try TestFolder()
        let clock = ManualClock()
        let options = Self.options(folder)
        var moved = options
        moved.storage.path = folder.path("elsewhere.db")
        let agent = try await Agent(
            options: options,
            time: clock,
            reload: { [moved] in moved },
            dependencies: AgentDependencies().patient
        )
        async let next = agent.run()
        await clock.sleepers(atLeast: 2)
        await #expect(throws: ControlError.self) { try await agent.reload() }
        let problem = await agent.state().problems?.first { $0.problem == "reload_refused" }
        #expect(problem?.reason == "needs_restart")
        #expect(problem?.command == "systemctl restart starwatch")
        agent.stop()
        #expect(try await next == nil)
    }

    @Test(.timeLimit(.minutes(5)), arguments: ["key", "pool", "hook", "ca", "schedule"])
    func whatCouldNotRunIsRefusedBeforeTheRunIsEnded(_ part: String) async throws {
        let folder = try TestFolder()
        let options = Self.options(folder)
        var changed = options
        let broken = try folder.write("whsec_not base64, no key, no token", to: "broken")
        switch part {
        case "key":
            changed.auth.kind = .didKey
            changed.auth.keyFile = broken
            changed.initialIdentity = World.ethr
        case "pool":
            changed.auth.kind = .tokenPool
            changed.auth.tokensFile = broken
            changed.initialIdentity = World.ethr
        case "hook":
            changed.delivery.sinks = [
                SinkOptions(
                    name: "hook",
                    kind: .webhook(url: "http://127.0.0.1:9", secretFile: broken, timeout: .seconds(1))
                )
            ]
        case "ca": changed.server.caFile = broken
        default: changed.polls[0].timing = .cron("61 * * * *", timezone: "UTC")
        }
        let agent = try await Agent(options: options, time: ManualClock(), reload: { [changed] in changed })
        _ = try? await agent.setIdentity(World.ethr)
        await #expect(throws: ControlError.self) { try await agent.reload() }
        #expect(agent.reloader.next == nil)
        #expect(agent.metrics.reloadSuccessful.value == 0)
        await #expect(throws: AgentError.self) { try await Agent.check(changed) }
        await agent.close()
    }

    /// Without an address the next agent could not begin, and this one would have ended by then.
    @Test func whatTheServersRejectIsRefused() async throws {
        let folder = try TestFolder()
        let options = Self.options(folder)
        var changed = options
        changed.control.listen = "127.0.0.1:9465"
        var dependencies = AgentDependencies()
        dependencies.servers.check = { next, current throws(AgentError) in
            #expect(current.control.listen == nil)
            throw AgentError(.configuration, "\(next.control.listen ?? "") is in use.")
        }
        let agent = try await Agent(
            options: options,
            time: ManualClock(),
            reload: { [changed] in changed },
            dependencies: dependencies
        )
        await #expect(throws: ControlError(.invalid, "127.0.0.1:9465 is in use.")) { try await agent.reload() }
        #expect(agent.reloader.next == nil)
        await agent.close()
    }

    @Test func aReloadWhileTheDatabaseCannotBeWrittenIsRefused() async throws {
        let folder = try TestFolder()
        let options = Self.options(folder)
        var dependencies = AgentDependencies()
        dependencies.store = { $0.busyTimeout = .milliseconds(1) }
        let agent = try await Agent(
            options: options,
            time: ManualClock(),
            reload: { [options] in options },
            dependencies: dependencies
        )
        try await DatabaseOnDisk(path: options.storage.path).locked {
            await #expect(throws: ControlError.self) { try await agent.reload() }
            #expect(agent.reloader.next == nil)
        }
        try await agent.reload()
        #expect(agent.reloader.next == options)
        await agent.close()
    }

    @Test(.timeLimit(.minutes(5)))
    func aSignalBetweenTwoRunsIsForTheNext() async throws {
        let folder = try TestFolder()
        let clock = ManualClock()
        let options = Self.options(folder)
        let former = try await Agent(options: options, time: clock)
        await former.close()
        former.reloader.signal.raise()
        let next = try await Agent(options: options, time: clock, after: former, reload: { [options] in options })
        #expect(try await next.run() == options)
    }

    @Test(arguments: ["storage", "http", "control"])
    func whatCannotChangeWhileRunningIsRefused(_ section: String) async throws {
        let folder = try TestFolder()
        let options = Self.options(folder)
        var changed = options
        changed.delivery.groupInterval = .seconds(60)
        switch section {
        case "storage": changed.storage.path = folder.path("other.db")
        case "http": changed.http.listen = "127.0.0.1:1"
        default: changed.control.socket = folder.path("other.sock")
        }
        let agent = try await Agent(options: options, time: ManualClock(), reload: { [changed] in changed })
        #expect(agent.metrics.reloadSuccessful.value == 1)
        await #expect(throws: ControlError.self) { try await agent.reload() }
        #expect(agent.metrics.reloadSuccessful.value == 0)
        let page = String(decoding: agent.metrics.registry.page(.text), as: UTF8.self)
        #expect(page.contains("\nstarwatch_config_last_reload_successful 0\n"))
        #expect(agent.reloader.next == nil)
        await agent.close()
    }
}

/// Says that something is broken, the first time it is asked.
private final class BrokenOnce: Sendable {
    private let isBroken = Mutex(true)

    func take() -> Bool {
        isBroken.withLock { isBroken in
            defer { isBroken = false }
            return isBroken
        }
    }
}
