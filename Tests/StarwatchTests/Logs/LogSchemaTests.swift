import Foundation
import MockEndorser
import ProgramTestKit
import StarwatchCore
import StarwatchStore
import StarwatchTransport
import Testing

@testable import Starwatch

/// The agent's log under all kinds of faults matches the event catalogue.
@Suite struct LogSchemaTests {
    /// Events that no scenario here brings about, and why.
    private static let elsewhere: [AgentEvent: String] = [
        .accountsChanged: "FleetTests", .clockOfTokens: "TokenTests", .agentFailed: "DiskStartTests",
        .canaryStoreFailed: "CanaryTests",
        .fleetStoreFailed: "FleetTests",
        .pollRunsMissed: "ScheduleTests", .pollEndpointMissing: "MissingEndpointTests",
        .pollPlansLeftOut: "GiveTests",
        .storageLost: "HealthTests", .storageOlderCopy: "JournalAgentTests", .storageUpgraded: "CompatibilityTests",
    ]

    @Test func everyLineUnderFaultsIsAsTheCatalogueSaysAndEveryEventIsSeen() async throws {
        var seen: Set<AgentEvent> = []
        for scenario in [
            polling, invalid, room, tokens, sinks, acknowledging, clock, failingStore, running, digests, keys, checks,
        ] {
            for line in try await scenario() {
                let problems = LogSchema.problems(of: line)
                #expect(problems.isEmpty, "\(problems.joined(separator: "; ")): \(line)")
                if let event = LogSchema.event(of: line) { seen.insert(event) }
            }
        }
        let missing = Set(AgentEvent.allCases).subtracting(seen).subtracting(Self.elsewhere.keys)
        #expect(missing.isEmpty, "never logged: \(missing.map(\.name).sorted())")
        #expect(seen.isDisjoint(with: Self.elsewhere.keys))
    }

    @Test(arguments: [
        ("\"poll\":", "\"pol\":"), ("\"level\":\"INFO\"", "\"level\":\"WARN\""), ("poll.changed", "poll.Changed"),
        ("\"change_count\":3", "\"change_count\":\"3\""), ("run_0", "run-0"), (".000Z", "Z"), ("}}", "}"),
        (",\"outcome\":\"changed\"", ""), ("\"duration_ms\":14,", ""), ("{\"poll\":", "{\"error\":\"x\",\"poll\":"),
    ])
    func aLineThatDiffersIsFound(original: String, changed: String) {
        let line =
            #"{"timestamp":"2026-01-01T12:00:00.000Z","level":"INFO","event":"poll.changed","run_id":"run_0123456789abcdef","#
            + #""identity":"did:hash:0123456789abcdef","project_count":20,"change_count":3,"duration_ms":14,"metadata":{"poll":"starred_projects","outcome":"changed"}}"#
            + "\n"
        #expect(LogSchema.problems(of: line).isEmpty)
        #expect(!LogSchema.problems(of: line.replacing(original, with: changed)).isEmpty)
    }

    // MARK: - Scenarios

    private func polling() async throws -> [String] {
        try await lines(of: .canonical) { world in
            let agent = try await world.agent {
                $0.log.level = .debug
                $0.polls[0].bootstrap = .beginning
                $0.delivery.sinks.append(SinkOptions(name: "log", kind: .log))
            }
            world.mock.publish(count: 5)
            world.mock.script(.status(500), at: .plansChanged)
            await round(agent)
            await round(agent)
            world.mock.forgetRequests()
            world.mock.script(.neverAnswer, at: .plansChanged)
            async let cancelled = agent.runtime.pollService.pass(agent.starred, runID: RandomID.runID())
            try await world.mock.waitForRequests(1, to: .plansChanged)
            await agent.runtime.pollService.abort()
            _ = await cancelled
            world.mock.publish(count: 5)
            world.mock.script(.schemaViolation(.unorderedPage), .malformedJSON, at: .plansChanged)
            await round(agent)
            await round(agent)
            world.mock.publish(count: 5)
            for violation in MockSchemaViolation.allCases {
                world.mock.script(.schemaViolation(violation), at: .plansChanged)
                await round(agent)
                world.clock.advance(by: .seconds(900))
            }
            let lasting: [MockFault] = [
                .resetBeforeHead, .resetMidBody(afterBytes: 5), .authenticationFailure, .status(400),
            ]
            for fault in lasting {
                world.mock.setStickyFault(fault, at: .plansChanged)
                await round(agent)
                world.clock.advance(by: .seconds(900))
            }
            // Only an agent that runs announces its problems.
            agent.process.lifecycle.start()
            _ = await agent.look()
            world.mock.clearFaults()
            world.mock.script(.rateLimited(retryAfter: .seconds(8 * 86_400)), at: .plansChanged)
            await round(agent)
            _ = try await agent.perform(ControlAPI.clearServerWait)
            world.mock.clockSkew = .seconds(1800)
            world.mock.publish(count: 1)
            await round(agent)
            world.mock.clockSkew = .zero
            for _ in 0..<2 { await round(agent) }
            _ = await agent.look()
            world.mock.script(.rateLimited(retryAfter: .seconds(7200)), at: .plansChanged)
            for _ in 0..<3 { await round(agent) }
            _ = try await agent.setIdentity(World.other)
            _ = try await agent.setIdentity(nil)
        }
    }

    private func invalid() async throws -> [String] {
        try await lines(of: .canonical) { world in
            let agent = try await world.agent {
                $0.log.level = .debug
                $0.polls[0].bootstrap = .beginning
                $0.polls[0].quarantineInvalid = .atOnce
            }
            world.mock.publish(count: 2)
            world.mock.script(.schemaViolation(.nullHandleID), at: .plansChanged)
            await round(agent)
            try DatabaseOnDisk(path: world.folder.path("starwatch.db"))
                .execute("UPDATE settings SET starredPlanHandleIds = '7'")
            agent.runtime.account.identity.invalidate()
            await round(agent)
        }
    }

    private func room() async throws -> [String] {
        try await lines(of: .canonical) { world in
            let agent = try await world.agent {
                $0.log.level = .debug
                $0.polls[0].bootstrap = .beginning
                $0.outbox.maxUndelivered = 10
                $0.outbox.backpressureThreshold = 1
            }
            world.mock.publish(count: 20)
            _ = await agent.runtime.pollService.pass(agent.starred, runID: RandomID.runID())
            // A host that shares the database may have set another bound.
            var options = agent.options
            options.outbox.maxUndelivered = 5
            let cycle = PollCycle(
                poll: agent.starred,
                of: PollService(
                    polls: [agent.starred],
                    account: agent.runtime.account,
                    options: options,
                    lastCycles: LastCycles(),
                    sharing: [:],
                    progress: agent.process.progress,
                    news: agent.process.news
                ),
                runID: RandomID.runID(),
                nextRun: nil
            )
            _ = await cycle.run(on: cycle.gate)
            try DatabaseOnDisk(path: world.folder.path("starwatch.db"))
                .execute("UPDATE notification_outbox SET reason = 'unreadable' WHERE state = 'pending'")
            _ = await agent.runtime.dispatcher.pass()
        }
    }

    private func tokens() async throws -> [String] {
        let secret = "a secret of thirty-two bytes ok!"
        return try await lines(of: .canonical, mock: { $0.auth = .sharedSecret(Array(secret.utf8)) }) { world in
            let file = try world.folder.write(secret + "\n", to: "secret")
            let agent = try await world.agent {
                $0.log.level = .debug
                $0.auth.kind = .sharedSecret
                $0.auth.secretFile = file
                $0.polls[0].bootstrap = .beginning
            }
            world.mock.publish(count: 3)
            _ = await agent.runtime.pollService.pass(agent.starred, runID: RandomID.runID())
            _ = await agent.runtime.dispatcher.pass()
            try FileManager.default.removeItem(atPath: file)
            world.clock.advance(by: .seconds(4000))
            _ = await agent.runtime.acknowledger.pass()
            await round(agent)
        }
    }

    private func sinks() async throws -> [String] {
        var lines: [String] = []
        try await Bench.run(
            sinks: ["first", "second", "third"],
            configure: { options, _, _ in
                options.log.level = .debug
                (options.delivery.sinks[2].isRequired, options.delivery.sinks[2].giveUpAfter) = (false, .seconds(60))
            }
        ) { bench in
            bench["third"].answer(.down)
            bench["first"].script(.refused, .ok, .down, .down, .down, .down, .down, .down, .timeout, .gone)
            bench.mock.publish(count: 3)
            _ = await bench.agent.runtime.pollService.pass(bench.agent.runtime.polls[0], runID: RandomID.runID())
            for _ in 0..<10 {
                await bench.dispatch()
                bench.clock.advance(by: .seconds(3600))
                bench.mock.publish(count: 1)
                _ = await bench.agent.runtime.pollService.pass(bench.agent.runtime.polls[0], runID: RandomID.runID())
            }
            for _ in 0..<5 {
                await bench.dispatch()
                bench.clock.advance(by: .seconds(3600))
            }
            lines = bench.log.lines
        }
        return lines
    }

    private func acknowledging() async throws -> [String] {
        try await lines(of: .canonical) { world in
            let agent = try await world.agent {
                $0.log.level = .debug
                $0.polls[0].bootstrap = .beginning
            }
            world.mock.publish(count: 3)
            world.mock.script(
                .status(500),
                .status(200, body: #"{"acknowledged":2,"failed":1,"alreadyAcknowledged":0}"#),
                .status(404),
                at: .acknowledge
            )
            await round(agent)
            for _ in 0..<3 {
                _ = await agent.runtime.acknowledger.pass()
                world.clock.advance(by: .seconds(3600))
            }
            // Rows near the cursor are kept at any age, so the cursor must have moved.
            world.clock.advance(by: .seconds(40 * 86_400))
            world.mock.publish(count: 3)
            await round(agent)
            await housekeeping(of: agent).pass()
        }
    }

    private func clock() async throws -> [String] {
        try await lines(of: .canonical, clock: .waiting, mock: { $0.clockSkew = .seconds(300) }) { world in
            let agent = try await world.agent { options in
                options.log.level = .debug
                options.clock.source = .auto
            }
            await round(agent)
            let service = try #require(agent.worker(ClockSyncService.self))
            await service.pass()
            try await FakeTimeServer.with(world.clock) { server, address in
                server.behave(.unsynchronised)
                let port = Int(address.split(separator: ":")[1])!
                let clock = world.clock
                var ntp = NTPClient(host: "127.0.0.1", port: port) {
                    ClockReading(wall: clock.now, monotonic: clock.monotonic)
                }
                ntp.timeout = longestWait
                await ClockSyncService(
                    account: agent.runtime.account,
                    environment: agent.process.environment,
                    timeServers: [ntp],
                    options: agent.options.clock
                ).pass()
            }
            await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await service.run() }
                await world.clock.sleepers(atLeast: 1)
                world.clock.setWall(to: world.clock.now + .seconds(7200))
                world.clock.suspend(for: .seconds(600))
                world.clock.advance(by: .seconds(60))
                await world.log.wait(for: "clock.jump")
                group.cancelAll()
            }
        }
    }

    private func failingStore() async throws -> [String] {
        try await lines(of: .canonical) { world in
            let agent = try await world.agent { $0.log.level = .debug }
            await round(agent)
            await agent.store.close()
            await round(agent)
            await housekeeping(of: agent).pass()
        }
    }

    private func digests() async throws -> [String] {
        var lines: [String] = []
        try await DigestBench.run(
            callbacks: { options, mock in
                options.reportError = FetchOptions(url: mock.url + "/callback")
                options.ackDelivery = options.reportError
            },
            digest: { digest, _ in digest.body = "{{typo}}" },
            options: { options in
                var quiet = options.digests[0]
                quiet.name = DigestName("quiet")!
                quiet.fetch.url += "?quiet"
                quiet.onEmpty = .skip
                options.digests.append(quiet)
            }
        ) { bench in
            let nothing = MockFault.status(200, body: "{}")
            bench.mock.script(nothing, nothing, .status(500), nothing, at: .content)
            bench.mock.script(.status(503), .status(400), at: .callback)
            await bench.settle()
            bench.move(to: "12:55")
            await bench.settle()
            await bench.show(at: "13:00")
            await bench.arm()
            for _ in 0..<3 {
                _ = await bench.callbacks.pass()
                bench.clock.advance(by: .seconds(61))
            }
            let old = Array(repeating: EventDraft(kind: .error, payload: "{}"), count: 1000)
            _ = try await bench.agent.store.events.enqueue(old, now: bench.clock.now)
            bench.clock.advance(by: .seconds(4 * 86_400))
            await bench.settle()
            await bench.agent.store.close()
            await bench.settle()
            _ = await bench.callbacks.pass()
            lines = bench.log.lines
        }
        return lines
    }

    private func running() async throws -> [String] {
        try await lines(of: .endorser, clock: .waiting) { world in
            var options = world.options
            options.log.level = .debug
            options.polls[0].timing = .every(.seconds(30))
            options.limits.maxConcurrentPolls = .max
            var moved = options
            moved.storage.path += ".moved"
            let refused = moved
            var dependencies = AgentDependencies()
            dependencies.servers.make = { _, _, _ throws(AgentError) in
                var run = AgentServers.Run()
                run.metricsAddress = { "127.0.0.1:9464" }
                return run
            }
            for load in [options, refused] {
                let agent = try await Agent(
                    options: options,
                    time: world.clock,
                    reload: { load },
                    logSinks: [world.log],
                    dependencies: dependencies
                )
                await withTaskGroup(of: Void.self) { group in
                    group.addTask { _ = try? await agent.run() }
                    await world.log.wait(for: "http.listening")
                    agent.topics.noteRefusal(.token, at: .control, of: "127.0.0.0/8")
                    agent.topics.noteRefusal(.password, at: .http, of: "127.0.0.0/8")
                    agent.topics.noteWebConfiguration(.clearText, at: .control)
                    agent.topics.noteWebConfiguration(.reloaded(certificateExpiry: nil), at: .http)
                    agent.topics.noteWebConfiguration(.refused("The key is missing."), at: .http)
                    try? await agent.reload()
                    group.cancelAll()
                }
            }
        }
    }

    // MARK: - Doing

    private func keys() async throws -> [String] {
        try await lines(of: .canonical) { world in
            let file = world.folder.path("master.key")
            _ = try MasterKeyFile.create(file)
            let agent = try await world.agent {
                $0.log.level = .debug
                $0.security.masterKeyFile = file
                $0.auth.kind = .sharedSecret
                $0.auth.storedKeys = true
            }
            await round(agent)
            _ = try await agent.perform(
                ControlAPI.importSigningKey,
                SigningKeyImport(content: Array("a secret of thirty-two bytes ok!".utf8), kid: "one")
            )
            _ = try await agent.perform(ControlAPI.revokeSigningKey, SigningKeyRevocation(kid: "one", force: true))
            _ = try await agent.perform(ControlAPI.rotateDataKeys)
            _ = try await agent.perform(ControlAPI.changeMasterKey, MasterKeyChange(key: MasterKey().text))
            await housekeeping(of: agent).encryptAgain()
            let former = try #require(try await agent.store.identity.active().did)
            _ = try await agent.setIdentity(nil)
            _ = try await agent.perform(ControlAPI.eraseIdentity, IdentityRemoval(did: former.rawValue))
            _ = try await agent.setIdentity(former)
            _ = try await agent.perform(ControlAPI.rotateDataKeys)
            await agent.store.close()
            await housekeeping(of: agent).encryptAgain()
        }
    }

    private func checks() async throws -> [String] {
        var all: [String] = []
        for event in ["storage.check", "storage.check_failed", "storage.damaged"] {
            all += try await lines(of: .canonical) { world in
                let agent = try await world.agentAfterUncleanEnd {
                    if event == "storage.damaged" { _ = try $0.damage("history") }
                }
                let file = world.folder.path("starwatch.db")
                if event == "storage.check_failed" {
                    try FileManager.default.moveItem(atPath: file, toPath: file + ".away")
                }
                let check = PageCheckService(environment: agent.process.environment)
                let run = Task { try await check.run() }
                await world.log.wait(for: event)
                run.cancel()
                _ = await run.result
                await agent.close()
            }
        }
        return all
    }

    private func lines(
        of dialect: MockDialect,
        clock: ManualClock.Mode = .jumping,
        mock: (inout MockServerOptions) -> Void = { _ in },
        _ body: (World) async throws -> Void
    ) async throws -> [String] {
        var lines: [String] = []
        try await World.with(dialect, clock: clock, mock: mock) { world in
            try await body(world)
            await world.stopAgent()
            lines = world.log.lines
        }
        return lines
    }

    /// A cycle, its delivery, and its acknowledgement.
    private func round(_ agent: Agent) async {
        _ = await agent.runtime.pollService.pass(agent.starred, runID: RandomID.runID())
        _ = await agent.runtime.dispatcher.pass()
        _ = await agent.runtime.acknowledger.pass()
    }

    private func housekeeping(of agent: Agent) -> HousekeepingService {
        HousekeepingService(
            outbox: agent.options.outbox,
            environment: agent.process.environment,
            pipeline: agent.process.logs.pipeline,
            recorder: LogRecorder()
        )
    }
}
