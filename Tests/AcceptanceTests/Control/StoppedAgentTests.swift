import Foundation
import MockEndorser
import Testing

/// Commands against an agent that is stopped, as by SIGSTOP or a debugger, and never answers.
@Suite(.timeLimit(.minutes(5))) struct StoppedAgentTests {
    /// Gives `body` a world whose agent has stored a change and is then stopped.
    private func withStopped(_ body: (AgentWorld, RunningAgent) async throws -> Void) async throws {
        let world = try await AgentWorld { $0.planCount = 3 }
        world.mock.publish(count: 1)
        let agent = try await RunningAgent(config: world.config, in: world.workspace)
        let isStored = try await eventually { () -> Bool? in
            let rows = try await starwatch("outbox", "list", "--config", world.config)
            let log = try await starwatch("logs", "--config", world.config)
            return rows.output.contains("acknowledged") && !log.output.isEmpty ? true : nil
        }
        #expect(isStored == true)
        kill(agent.pid, SIGSTOP)
        defer { kill(agent.pid, SIGCONT) }
        try await body(world, agent)
        kill(agent.pid, SIGCONT)
        await agent.stop()
        try await world.mock.stop()
    }

    @Test func everyCommandEndsAndWhatOnlyReadsReadsTheDatabase() async throws {
        try await withStopped { world, _ in
            let access = ["--timeout", "1s", "--config", world.config]
            let reads = [
                ["logs"], ["explain", "1"], ["outbox", "list"], ["outbox", "show", "1"], ["notifications", "list"],
                ["quarantine", "list"], ["stars", "list"], ["identity", "show"], ["keys", "list"], ["digests", "list"],
            ]
            for command in reads {
                let result = try await starwatch(command + access)
                #expect(result.status == 0, "\(command): \(result.errors)")
                #expect(!result.output.isEmpty, "\(command)")
                let line =
                    "starwatch: The agent does not answer, so this is from its database, without what it has not stored yet.\n"
                #expect(result.errors == line, "\(command): \(result.errors)")
            }
            let story = try await starwatch(["explain", "1"] + access)
            #expect(story.output.contains("acknowledged"))
            let others = [
                ["status"], ["poll", "starred_projects"], ["outbox", "retry", "--all"], ["outbox", "discard", "--all"],
                ["sinks", "test", "file"], ["server", "clear-wait"], ["stars", "restore"], ["keys", "verify"],
                ["identity", "set", "--sign-out"], ["quarantine", "discard", "--all"], ["notifications", "follow"],
            ]
            for command in others {
                let result = try await starwatch(command + access)
                #expect(result.status == 3, "\(command): \(result.errors)")
                let start = "starwatch: The agent at \(world.workspace.path("s.sock")) did not answer within 1s; "
                #expect(result.errors.hasPrefix(start), "\(command): \(result.errors)")
                #expect(result.errors.contains("wait longer with --timeout."), "\(command)")
                #expect(result.errors.split(separator: "\n").count == 1, "\(command)")
            }
        }
    }

    @Test func withoutATimeoutACommandWaitsForTenSeconds() async throws {
        try await withStopped { world, _ in
            let start = ContinuousClock.now
            let result = try await starwatch("status", "--config", world.config, isPatient: false)
            #expect(result.status == 3)
            #expect(result.errors.contains("did not answer within 10s; it may be stopped or overloaded."))
            #expect(ContinuousClock.now - start >= .seconds(10))
        }
    }

    /// A long verb asks first whether the agent answers at all, unless the caller says how long to wait.
    @Test func aCommandWaitsAsLongAsItsTimeoutSaysAndALongVerbWithoutOneGivesUp() async throws {
        try await withStopped { world, agent in
            let start = ContinuousClock.now
            let hasty = try await starwatch("poll", "starred_projects", "--config", world.config, isPatient: false)
            #expect(ContinuousClock.now - start >= .seconds(10))
            #expect(hasty.status == 3)
            #expect(hasty.errors.contains("did not answer within 10s; it may be stopped or overloaded."))
            async let status = starwatch("status", "--timeout", "200s", "--config", world.config)
            async let poll = starwatch("poll", "starred_projects", "--timeout", "200s", "--config", world.config)
            // They wait longer than a command does without a time.
            try await Task.sleep(for: .seconds(11))
            kill(agent.pid, SIGCONT)
            let answers = [try await status, try await poll]
            for answer in answers { #expect(answer.status == 0, "\(answer.errors)") }
        }
    }

    @Test func aReadBesideAStoppedAgentLeavesItsFilesAndItsWorkAlone() async throws {
        try await withStopped { world, agent in
            func names() throws -> [String] {
                try FileManager.default.contentsOfDirectory(atPath: world.workspace.url.path).sorted()
            }
            let (before, files) = (try Data(contentsOf: URL(filePath: world.database)), try names())
            _ = try await starwatch("logs", "--timeout", "1s", "--config", world.config)
            #expect(try Data(contentsOf: URL(filePath: world.database)) == before)
            #expect(try names() == files)
            kill(agent.pid, SIGCONT)
            let poll = try await starwatch("poll", "starred_projects", "--config", world.config)
            #expect(poll.status == 0, "\(poll.errors)")
        }
    }

    @Test func aDamagedDatabaseOfAnAgentThatIsGoneIsReadAsFarAsItCan() async throws {
        let world = try await AgentWorld { $0.planCount = 3 }
        let agent = try await RunningAgent(config: world.config, in: world.workspace)
        let isStored = try await eventually { () -> Bool? in
            try await starwatch("logs", "--config", world.config).output.contains("poll.") ? true : nil
        }
        #expect(isStored == true)
        await agent.stop()
        // An index that the log does not need.
        let root = "SELECT rootpage FROM sqlite_schema WHERE name = 'idx_outbox_open'"
        let page = try Database.integer(world.database, root)
        let file = try FileHandle(forUpdating: URL(filePath: world.database))
        try file.seek(toOffset: UInt64(page - 1) * 4096)
        try file.write(contentsOf: Data(repeating: 0xA5, count: 4096))
        try file.close()
        try FileManager.default.removeItem(atPath: world.database + ".lock")
        let result = try await starwatch("logs", "--config", world.config)
        #expect(result.status == 0, "\(result.errors)")
        #expect(result.output.contains("poll."))
        #expect(result.errors.contains("damaged") && result.errors.hasSuffix("This is what can still be read.\n"))
        let doctor = try await starwatch("doctor", "--config", world.config)
        #expect(doctor.output.contains(/problem +database +The database file is damaged/), "\(doctor.output)")
        try await world.mock.stop()
    }
}

/// Commands while the configuration of a running agent has errors.
@Suite(.timeLimit(.minutes(5))) struct BrokenConfigurationTests {
    @Test func commandsFindTheAgentThatRunsWithTheFormerConfiguration() async throws {
        let world = try await AgentWorld { $0.planCount = 3 }
        let run = world.workspace.path("run")
        try FileManager.default.createDirectory(atPath: run, withIntermediateDirectories: false)
        try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: run)
        let environment = ["RUNTIME_DIRECTORY": run]
        let agent = try await RunningAgent(config: world.config, in: world.workspace, environment: environment)
        let good = try String(contentsOfFile: world.config, encoding: .utf8)
        let line = good.split(separator: "\n", omittingEmptySubsequences: false).count
        try world.workspace.write(good + "broken: 1\n", to: "starwatch.yaml")
        let warning =
            "\(world.config):\(line): broken: error, so the agent keeps its former configuration: there is no such setting."
        for command in [["status"], ["outbox", "list"], ["logs"], ["poll", "starred_projects"]] {
            let result = try await starwatch(command + ["--config", world.config], environment: environment)
            #expect(result.status == 0, "\(command): \(result.errors)")
            #expect(result.errors == warning + "\n", "\(command): \(result.errors)")
        }
        let doctor = try await starwatch("doctor", "--json", "--config", world.config, environment: environment)
        #expect(doctor.status == 1)
        #expect(doctor.output.contains("has been running for"))

        let reload = try await starwatch("reload", "--config", world.config, environment: environment)
        #expect(reload.status == 2)
        let reason = "\(world.config):\(line): broken: there is no such setting."
        #expect(reload.errors == "starwatch: \(reason)\n")
        let refused = try await eventually { () -> CommandResult? in
            let result = try await starwatch("status", "--config", world.config, environment: environment)
            return result.status == 1 ? result : nil
        }
        #expect(refused?.errors == warning + "\n")
        #expect(refused?.output.contains("The changed configuration was refused: starwatch.yaml:\(line)\n") == true)
        try world.workspace.write(good, to: "starwatch.yaml")
        let corrected = try await starwatch("reload", "--config", world.config, environment: environment)
        #expect(corrected.status == 0, "\(corrected.errors)")
        #expect(corrected.output == "The agent has reloaded its configuration.\n")
        let again = try await starwatch("reload", "--config", world.config, environment: environment)
        #expect(again.status == 0, "\(again.errors)")
        let isReloaded = await eventually { agent.logText.contains("config.reloaded") ? true : nil }
        #expect(isReloaded == true)
        try world.workspace.write(good + "broken: 1\n", to: "starwatch.yaml")

        #expect(await agent.stop() == 0)
        #expect(try FileManager.default.contentsOfDirectory(atPath: run) == [])
        let late = try await starwatch("status", "--config", world.config, environment: environment)
        #expect(late.status == 2)
        #expect(late.errors == "\(world.config):\(line): broken: there is no such setting.\n")
        try await world.mock.stop()
    }
}
