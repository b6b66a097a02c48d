import Foundation
import MockEndorser
import StarwatchCore
import StarwatchStore
import Testing

@testable import Starwatch

@Suite("The journal")
struct JournalAgentTests {
    private func entries(_ agent: Agent) async throws -> [JournalRecord] {
        try await agent.perform(ControlAPI.listJournal, JournalQuery()).entries
    }

    @Test("notes each change with its operator, and nothing that only reads")
    func actions() async throws {
        try await World.with(.canonical) { world in
            let agent = try await world.agent { $0.log.level = .notice }
            let anna = Operator(.socket, "anna")
            _ = try await agent.topics.perform(ControlAPI.listOutbox, OutboxQuery(), for: anna)
            _ = try await agent.topics.perform(ControlAPI.clearServerWait, (), for: anna)
            await #expect(throws: ControlError.self) {
                try await agent.topics.perform(
                    ControlAPI.retryOutbox,
                    RowSelection(ids: [17, 18]),
                    for: Operator(.port, "token")
                )
            }
            let entries = try await entries(agent)
            #expect(entries.map(\.verb) == ["server.clear-wait", "outbox.retry"])
            #expect(entries.map(\.actor) == ["socket:anna", "port:token"])
            #expect(entries.map(\.result) == ["ok", "not_found"])
            #expect(entries.map(\.target) == [nil, "ids=17,18"])
            let lines = world.log.lines.filter { $0.contains("operator.action") }
            #expect(lines.count == 2)
            #expect(lines[1].contains("\"actor\":\"port:token\""))
        }
    }

    @Test("names no account, no project and no key")
    func targets() throws {
        func target<Input, Answer>(_ verb: Verb<Input, Answer>, _ input: Input) throws -> String? {
            try verb.form.write(input).journalTarget
        }
        let did = "did:ethr:0x00000000000000000000000000000000000000aa"
        #expect(try target(ControlAPI.eraseIdentity, IdentityRemoval(did: did)) == "did=…")
        #expect(try target(ControlAPI.setIdentity, IdentityChoice(did: did)) == "did=…")
        #expect(try target(ControlAPI.runPoll, PollRun(did)) == "…")
        #expect(try target(ControlAPI.runPoll, PollRun("offers")) == "offers")
        #expect(
            try target(ControlAPI.changeStars, StarsChange(operation: .add, planIDs: ["a", "b"]))
                == "operation=add plan_ids=(2)"
        )
        #expect(try target(ControlAPI.changeMasterKey, MasterKeyChange(key: "c2VjcmV0")) == "key=…")
        #expect(try target(ControlAPI.changeFeedToken, FeedTokenChange(.rotate)) == "operation=rotate")
        #expect(ControlAPI.changeFeedToken.journalWord == "feed.token")
        #expect(try target(ControlAPI.rotateDataKeys, ()) == nil)
        let many = RowSelection(ids: Array(1...30))
        #expect(try target(ControlAPI.retryOutbox, many)?.hasSuffix("19,20 and 10 more") == true)
    }

    @Test(
        "has one word for each value of a request",
        arguments: [
            (
                #"{"state":"say \"hi\"","poll":"a\u0000b","kind":"näch\u2028st","operation":"add"}"#,
                "kind=… operation=add poll=… state=…"
            ),
            (
                #"{"b":null,"a":true,"c":-7,"d":1.5,"e":{"did":"x"},"f":["a",1],"g":[],"h":[3,4]}"#,
                "a=true b=none c=-7 d=… e=… f=(2) g=(0) h=3,4"
            ),
            (#"{"é\n":"x"}"#, "é\n=…"), ("[1]", nil), ("{", nil), ("", nil),
        ] as [(String, String?)]
    )
    func values(_ body: String, _ target: String?) {
        #expect(ControlRequest(body: Array(body.utf8)).journalTarget == target)
    }

    @Test("covers every verb that changes something")
    func coverage() {
        let silent = ControlAPI.controls.filter { verb in
            func word(_ verb: some AnyVerb) -> (String, String?) { (verb.verb.method, verb.verb.journalWord) }
            let (method, journalWord) = word(verb)
            return method != "GET" && journalWord == nil
        }
        func path(_ verb: some AnyVerb) -> String { verb.verb.path }
        #expect(
            silent.map { path($0) } == [
                ControlAPI.tryPoll.path, ControlAPI.reload.path, ControlAPI.showAccount.path,
                ControlAPI.verifyKeys.path,
            ]
        )
    }

    @Test("has each reload with the names of the changed settings, and each refused one with its sentence")
    func reloads() async throws {
        try await World.with(.canonical) { world in
            let options = world.options
            var changed = options
            changed.outbox.maxUndelivered = 7
            changed.delivery.sinks[0].isRequired = false
            let agent = try await Agent(options: options, time: world.clock, reload: { [changed] in changed })
            _ = try await agent.topics.perform(ControlAPI.reload, (), for: Operator(.socket, "anna"))
            let entry = try #require(try await entries(agent).last)
            #expect(entry.kind == .reload && entry.actor == "socket:anna" && entry.result == "ok")
            #expect(entry.detail == "delivery.sinks.file.is_required, outbox.max_undelivered")
            let differences = agent.process.differences
            #expect(entry.target == differences.hash(changed))
            #expect(differences.hash(changed) != differences.hash(options))
            // Nobody can try guesses at a secret without the installation's key.
            #expect(OptionsDifference(key: [1], settings: nil).hash(changed) != differences.hash(changed))
            await agent.close()

            let broken = try await Agent(
                options: options,
                time: world.clock,
                reload: { () throws(AgentError) in throw AgentError(.configuration, "polls: is missing.") }
            )
            await #expect(throws: ControlError.self) { try await broken.reloader.reload() }
            let refused = try #require(try await entries(broken).last)
            #expect(refused.actor == "signal" && refused.result == "refused" && refused.detail == "polls: is missing.")
            await broken.close()
        }
    }

    @Test("has each end of a run: the stop that it notes itself, and the kill that the next start finds")
    func runs() async throws {
        try await World.with(.canonical, clock: .waiting) { world in
            func run() async throws {
                let agent = try await Agent(options: world.options, time: world.clock, logSinks: [world.log])
                async let end = agent.run()
                await world.clock.sleepers(atLeast: 3)
                agent.stop()
                _ = try await end
            }
            try await run()
            world.clock.advance(by: .seconds(1))
            // A start without an end, as a kill leaves it.
            let box = BlackBoxRecorder(besides: world.options.storage.path)
            await RunRecorder(box, after: nil).begin(now: world.clock.now)
            await box.close()
            world.clock.advance(by: .seconds(1))
            try await run()
            let agent = try await world.agent()
            let ends = try await entries(agent).filter { $0.kind == .runEnd }
            #expect(ends.map(\.result) == ["stopped", "killed", "stopped"])
            #expect(ends.allSatisfy { $0.actor == "agent" })
        }
    }

    /// A cut of the steps at the start and the end of a run.
    enum Cut: CaseIterable { case beforeStartMark, afterStartMark, afterEndMark, afterEnd }

    @Test("has each end of a run once, wherever a kill cuts the steps of a start or an end", arguments: Cut.allCases)
    func cuts(_ cut: Cut) async throws {
        try await World.with(.canonical, clock: .waiting) { world in
            var options = world.options
            options.log.level = .notice
            /// A run of which the kill leaves only the first steps.
            func killedRun(_ cut: Cut) async throws {
                let agent = try await Agent(options: options, time: world.clock, logSinks: [world.log])
                let process = agent.process
                func begin() async {
                    await process.runs.begin(now: world.clock.now) { await process.journal.note(former: $0) }
                }
                switch cut {
                case .beforeStartMark:
                    await begin()
                    await agent.close()
                    // The next process notes the end, and is killed before its own start is marked.
                    world.clock.advance(by: .seconds(1))
                    let next = try await Agent(options: options, time: world.clock, logSinks: [world.log])
                    let look = next.process.runs.ends()
                    await next.process.journal.note(try #require(look.last))
                    await next.close()
                    return
                case .afterStartMark: await begin()
                case .afterEndMark:
                    await begin()
                    world.clock.advance(by: .seconds(1))
                    await process.runs.end(.stopped, now: world.clock.now)
                case .afterEnd:
                    await begin()
                    world.clock.advance(by: .seconds(1))
                    let end = try #require(await process.runs.end(.stopped, now: world.clock.now))
                    await process.journal.note(end)
                }
                await agent.close()
            }
            try await killedRun(cut)
            world.clock.advance(by: .seconds(10))
            let agent = try await Agent(options: options, time: world.clock, logSinks: [world.log])
            async let end = agent.run()
            await world.clock.sleepers(atLeast: 3)
            agent.stop()
            _ = try await end
            let reader = try await world.agent()
            let ends = try await entries(reader).filter { $0.kind == .runEnd }
            let isStopped = cut == .afterEndMark || cut == .afterEnd
            #expect(ends.map(\.result) == [isStopped ? "stopped" : "killed", "stopped"])
            #expect(Set(ends.compactMap(\.target)).count == 2)
            #expect(world.log.lines.filter { $0.contains("agent.run_ended") }.count == (isStopped ? 0 : 1))
            let boxed = reader.process.runs.ends().map(\.cause.rawValue)
            #expect(boxed == ends.map(\.result))
        }
    }

    @Test("has a kill after the last half minute in which the agent gave a sign of life", .timeLimit(.minutes(5)))
    func signs() async throws {
        try await World.with(.canonical, clock: .waiting) { world in
            let agent = try await Agent(options: world.options, time: world.clock, logSinks: [world.log])
            async let end = agent.run()
            await world.clock.sleepers(atLeast: 3)
            let start = world.clock.now
            let file = BlackBox.path(besides: world.options.storage.path)
            func sign() -> Timestamp? {
                BlackBoxFile.read(path: file).flatMap { try? BlackBox.read($0.bytes) }?.sign
            }
            // Time passes until there is a sign, because the one who gives it can begin to wait late.
            while !Task.isCancelled, sign().map({ $0 <= start }) ?? true {
                world.clock.advance(by: .seconds(30))
                await Task.yield()
            }
            let last = try #require(sign())
            #expect(last <= world.clock.now && (last - start).components.seconds % 30 == 0)
            agent.stop()
            _ = try await end
        }
    }

    @Test("has the failed end of a run whose reload made no new agent")
    func failedReload() async throws {
        try await World.with(.canonical, clock: .waiting) { world in
            let former = try await Agent(options: world.options, time: world.clock, logSinks: [world.log])
            await former.process.runs.begin(now: world.clock.now)
            await former.close()
            var broken = world.options
            broken.security.masterKeyFile = "/nonexistent/key"
            await #expect(throws: AgentError.self) {
                try await Agent(options: broken, time: world.clock, after: former, logSinks: [world.log])
            }
            let agent = try await world.agent()
            #expect(agent.process.runs.ends().map(\.cause) == [.failed])
        }
    }

    @Test("tells once that an older copy of the database was put back")
    func olderCopy() async throws {
        try await World.with(.canonical, clock: .waiting) { world in
            var options = world.options
            options.log.level = .warning
            func run() async throws {
                world.clock.advance(by: .seconds(60))
                let agent = try await Agent(options: options, time: world.clock, logSinks: [world.log])
                async let end = agent.run()
                await world.clock.sleepers(atLeast: 3)
                world.clock.advance(by: .seconds(60))
                agent.stop()
                _ = try await end
            }
            func told() -> Int { world.log.lines.count { $0.contains("storage.older_copy") } }
            let database = world.options.storage.path
            func files() -> [String: Data] {
                ["", "-wal"].reduce(into: [:]) { $0[$1] = FileManager.default.contents(atPath: database + $1) }
            }
            for _ in 0..<3 { try await run() }
            #expect(told() == 0)
            let copy = files()
            try await run()
            for name in files().keys { try FileManager.default.removeItem(atPath: database + name) }
            for (name, content) in copy {
                let attributes = [FileAttributeKey.posixPermissions: 0o600]
                let path = database + name
                #expect(FileManager.default.createFile(atPath: path, contents: content, attributes: attributes))
            }
            try await run()
            #expect(told() == 1)
            for _ in 0..<2 { try await run() }
            #expect(told() == 1)
            let agent = try await Agent(options: options, time: world.clock, logSinks: [world.log])
            let entries = try await agent.store.journal.list(since: nil, limit: 100).map(\.entry)
            await agent.close()
            #expect(entries.count { $0.verb == "storage.older_copy" } == 1)
        }
    }

    @Test("shows an agent that is killed again and again as a problem, until an hour without has passed")
    func killLoop() async throws {
        try await World.with(.canonical) { world in
            for _ in 0..<4 {
                let box = BlackBoxRecorder(besides: world.options.storage.path)
                await RunRecorder(box, after: nil).begin(now: world.clock.now)
                await box.close()
                world.clock.advance(by: .seconds(10))
            }
            let agent = try await world.agent()
            let status = await agent.state()
            #expect(status.restarts?.lastDay == 4)
            #expect(status.restarts?.lastCause == "killed")
            #expect(status.status == .degraded)
            let problem = try #require(status.problems?.first { $0.problem == "restarting" })
            #expect(problem.command == "starwatch incident")
            world.clock.advance(by: .seconds(3600))
            #expect(await agent.state().has(.restarting) == false)
        }
    }
}
