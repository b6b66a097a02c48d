import Foundation
import MockEndorser
import Testing

/// The questions of a night shift: each has one command, and this is its answer.
@Suite(.timeLimit(.minutes(5))) struct QuestionTests {
    private struct Row: Decodable {
        let id: Int
        let state: String
        let jwt_id: String
        let notification_id: String?
    }

    private struct Report: Decodable {
        let run_id: String
        let outcome: String
    }

    /// An agent with a past: dead letters that were retried, a run that found nothing, one that failed, and a change that
    /// waits for a sink.
    private struct Night {
        let world: AgentWorld
        let delivered: Row
        let waiting: Row
        let unstarred = "https://endorser.ch/entity/01JWMKFMXGFJAQ5QFAJMD81J9Z"
        let quiet: String
        let failed: String
        let failedAt: String
    }

    private static func ask(_ world: AgentWorld, _ arguments: [String]) async throws -> CommandResult {
        try await starwatch(arguments + ["--config", world.config])
    }

    /// Asks until the answer is there: a scrape can miss its second on a busy machine, and an attempt can be due just then.
    private static func ask(
        _ world: AgentWorld,
        _ command: [String],
        until answers: [String]
    ) async throws -> CommandResult {
        let complete = try await eventually { () async throws -> CommandResult? in
            let result = try await ask(world, command)
            let isComplete = try answers.allSatisfy { answer in result.output.contains(try Regex(answer)) }
            return isComplete ? result : nil
        }
        if let complete { return complete }
        return try await ask(world, command)
    }

    private static func rows(_ world: AgentWorld) async throws -> [Row] {
        let list = try await ask(world, ["outbox", "list", "--json"])
        return try JSONDecoder().decode([Row].self, from: Data(list.output.utf8))
    }

    private static func poll(_ world: AgentWorld) async throws -> Report {
        let report = try await ask(world, ["poll", "starred_projects", "--json"])
        return try JSONDecoder().decode(Report.self, from: Data(report.output.utf8))
    }

    /// Starts an agent that missed runs, and that a kill ended. Then it takes one changed configuration and refuses
    /// another.
    private static func start(_ world: AgentWorld, _ yaml: String) async throws -> RunningAgent {
        try world.workspace.write(yaml.replacing("every: 1h", with: "every: 1s"), to: "starwatch.yaml")
        let stopped = try await RunningAgent(config: world.config, in: world.workspace)
        _ = await eventually { stopped.logText.contains("poll.unchanged") ? true : nil }
        await stopped.stop()
        try await Task.sleep(for: .seconds(4))
        let killed = try await RunningAgent(config: world.config, in: world.workspace)
        _ = await eventually { killed.logText.contains("poll.runs_missed") ? true : nil }
        await killed.killNow()
        let agent = try await RunningAgent(config: world.config, in: world.workspace)
        try world.workspace.write(yaml, to: "starwatch.yaml")
        agent.hangUp()
        let news = await eventually { () -> Bool? in
            guard agent.logText.contains("config.reloaded") else { return nil }
            return agent.logText.split(separator: "http.listening").count > 4 ? true : nil
        }
        #expect(news == true)
        try world.workspace.write(yaml + "surplus: 1\n", to: "starwatch.yaml")
        agent.hangUp()
        let isRefused = await eventually { agent.logText.contains("config.refused") ? true : nil }
        #expect(isRefused == true)
        try world.workspace.write(yaml, to: "starwatch.yaml")
        return agent
    }

    /// Starts a Prometheus with the shipped rules that scrapes the agent, and waits for its first alert.
    private static func watch(
        _ agent: RunningAgent,
        _ alertmanager: Alertmanager,
        in workspace: Workspace
    ) async throws -> Prometheus {
        let prometheus = try await Prometheus(
            scraping: agent.lastAddress,
            as: "starwatch",
            rules: RuleFile.inSecondsForMinutes(),
            alertmanager: alertmanager.address,
            in: workspace
        )
        let isWatching = try await eventually {
            let alerts = try await prometheus.query("ALERTS{alertname=\"StarwatchWatchdog\",alertstate=\"firing\"}")
            let scraped = try await prometheus.query("up{job=\"starwatch\"}")
            return alerts != nil && scraped == 1 ? true : nil
        }
        #expect(isWatching == true)
        return prometheus
    }

    private static func prepare(_ world: AgentWorld) async throws -> Night {
        let mock = world.mock
        mock.setStickyFault(.status(400), at: .hook)
        _ = mock.publish(count: 1)
        _ = try await poll(world)
        let haveDied = try await eventually { try await rows(world).first?.state == "dead" ? true : nil }
        #expect(haveDied == true)
        mock.setStickyFault(nil, at: .hook)
        let retried = try await ask(world, ["outbox", "retry", "--all"])
        #expect(retried.status == 0, "\(retried.errors)")
        let delivered = try await eventually { try await rows(world).first { $0.state == "acknowledged" } }
        let quiet = try await poll(world)
        #expect(quiet.outcome == "unchanged")
        mock.script(.status(404), at: .plansChanged)
        let failed = try await poll(world)
        #expect(failed.outcome == "failed")
        let failedAt = Date().formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
        mock.setStickyFault(.status(503), at: .hook)
        _ = mock.publish(count: 1)
        _ = try await poll(world)
        let waiting = try await eventually { try await rows(world).first { $0.state == "claimed" } }
        return Night(
            world: world,
            delivered: try #require(delivered),
            waiting: try #require(waiting),
            quiet: quiet.run_id,
            failed: failed.run_id,
            failedAt: failedAt
        )
    }

    /// A question, its command, and regular expressions that its answer matches.
    private static func questions(
        _ night: Night,
        prometheus: String
    ) -> [(question: String, command: [String], answers: [String])] {
        let notification = night.delivered.notification_id ?? ""
        let changed = "Change +\(night.delivered.jwt_id), row \(night.delivered.id)"
        let notTheOther = "\\A(?![\\s\\S]*\(night.waiting.notification_id ?? "ntf"))"
        return agentQuestions(prometheus: prometheus) + [
            (
                "What is wrong now?", ["status"],
                ["Status +degraded: ", "configuration was refused: starwatch\\.yaml:\\d+  .*starwatch check"]
            ),
            ("Why was row N late?", ["explain", "\(night.delivered.id)"], ["retried", "dead", "http_400", " \\+\\d"]),
            ("What does the outbox wait for?", ["status"], ["1 notification waits for sink hook"]),
            (
                "Which row is the oldest undelivered one, and which sink has not taken it?", ["status"],
                ["Oldest +pending (now|\\d.* ago), due ", "for sink hook"]
            ),
            (
                "Are we throttled, or is the server slow?", ["status"],
                ["circuit closed\\n", "Requests +\\d+ within 15 min, \\d+ failed"]
            ),
            (
                "When is the next attempt, with all waits?", ["explain", "\(night.waiting.id)"],
                ["Waits: Sink hook", "Until "]
            ),
            ("What did the server answer at 02:13?", ["explain", night.failed], ["http_404, took \\d", "failed"]),
            ("Which id does the server's operator need?", ["explain", night.failed], ["request "]),
            ("How many changes are lost?", ["status"], ["0 dead", "acknowledged, 1 failed"]),
            ("Who got which notification?", ["notifications", "show", notification], ["Sink hook", "ok"]),
            ("Which changes were in it?", ["notifications", "show", notification], [changed]),
            (
                "Which notification had this change?",
                ["notifications", "list", "--change", "\(night.delivered.id)"], [notification, notTheOther]
            ),
            ("Which change was notified twice?", ["outbox", "list", "--twice"], ["No rows."]),
            (
                "Why was nobody told of edit X?", ["explain", night.unstarred],
                ["not_starred", "starwatch stars list"]
            ),
            ("When did the poll last see something new?", ["status"], ["LAST NEW", "changed +(now|\\d.* ago) +\\d"]),
            ("How far behind are we?", ["status"], ["BEHIND", "(now|ago|-) +\\d[ \\d.min]*s +in "]),
            (
                "What did a run do that found nothing?", ["explain", night.quiet],
                ["unchanged", "http_200", "1 request", "took \\d"]
            ),
            (
                "Why is a change cancelled or dead?", ["explain", "\(night.delivered.id)"],
                ["dead +sink hook, http_400"]
            ),
            ("What is behind this exemplar?", ["explain", night.quiet], ["starred_projects", "finished"]),
        ]
    }

    /// The questions about the agent itself.
    private static func agentQuestions(
        prometheus: String
    ) -> [(question: String, command: [String], answers: [String])] {
        let doctor = ["doctor", "--prometheus", prometheus]
        return [
            ("How often did it restart, and why?", ["status"], ["1 in 24 h that nobody asked for", "killed"]),
            ("Did a restart skip a run?", ["incident"], ["poll.runs_missed", "poll=starred_projects"]),
            ("What changed in the configuration?", ["journal"], ["reload", "polls.starred_projects"]),
            ("What failed in the last reload?", ["journal"], ["refused", "surplus"]),
            ("Who discarded, retried or signed out?", ["journal"], ["socket:", "outbox.retry"]),
            ("Does memory grow?", ["status"], ["Memory +\\d+ MiB resident, compared"]),
            ("Which process is it, for a signal or a profiler?", ["status"], ["Agent +starwatch .*, pid \\d+, up "]),
            ("How much disk is free?", ["status"], ["Disk +\\d+.* .iB free, the database has \\d"]),
            ("Is the database sound?", ["doctor"], ["Every page of the database is sound."]),
            ("How near is the rate limit?", ["status"], ["the limits allow \\d+ more this minute"]),
            (
                "When do token and certificates expire, and how old is the key?", ["status"],
                ["Token +expires in \\d", "key created (now|\\d.* ago)"]
            ),
            (
                "Would an alert fire if this agent vanished?", doctor,
                ["Prometheus scrapes 1 agent, StarwatchAbsent is loaded"]
            ),
            ("Is alerting alive?", doctor, ["StarwatchWatchdog fires, and 1 Alertmanager gets the alerts."]),
        ]
    }

    /// Runs the command of the page that asks Prometheus which agent is the worst.
    private static func askForTheWorst(_ prometheus: Prometheus, as page: String) async throws {
        let command = try #require(page.firstMatch(of: /```\n(curl [\s\S]*?problem_info[\s\S]*?)\n```/)).1
        #expect(page.contains("| Which agent is the worst? | `curl`"))
        let here = command.replacing("http://127.0.0.1:9090", with: prometheus.url)
        // The sink that is down: one warning.
        let isListed = try await eventually { () -> Bool? in
            let answer = try await runToEnd(try Program.find("sh"), ["-c", String(here)])
            return answer.output.contains(/"instance":"127\.0\.0\.1:\d+"},"value":\[[\d.]+,"\d+0"\]/) ? true : nil
        }
        #expect(isListed == true)
    }

    @Test func everyQuestionOfTheNightHasOneCommandAndItsAnswer() async throws {
        try await AgentWorld.withControl { world in
            var configuration = world.configuration
            configuration.every = "1h"
            try world.workspace.write("a secret of more than 32 bytes....", to: "secret")
            configuration.auth = "kind: shared_secret\n  secret_file: \(world.workspace.path("secret"))"
            configuration.sinks = TestConfiguration.webhook(world.mock.url)
            let yaml = configuration.yaml(in: world.workspace)
                .replacing("delivery:\n", with: "outbox:\n  max_retries: 1\ndelivery:\n")
            let agent = try await Self.start(world, yaml)
            let alertmanager = try await Alertmanager(in: world.workspace)
            let prometheus = try await Self.watch(agent, alertmanager, in: world.workspace)
            let night = try await Self.prepare(world)
            let page = try Repository.text("docs/operations.md")
            let questions = Self.questions(night, prometheus: prometheus.url)
            for (question, command, answers) in questions {
                #expect(page.contains("| \(question) | `starwatch \(command[0])"), "\(question)")
                let result = try await Self.ask(world, command, until: answers)
                #expect(result.status < 2, "\(question) \(result.errors)")
                for answer in answers {
                    #expect(result.output.contains(try Regex(answer)), "\(question) \(answer)\n\(result.output)")
                }
            }
            let asked = page.split(separator: "\n").filter { $0.contains("? | `starwatch ") }
            #expect(asked.count == Set(questions.map(\.question)).count, "A question of the page has no test.")
            try await Self.askForTheWorst(prometheus, as: page)
            let then = try await Self.ask(world, ["explain", night.failedAt])
            #expect(then.output.contains(night.failed), "\(then.output)")
            await prometheus.stop()
            try await alertmanager.stop()
            await agent.stop()
            // The runs of the agent that ended are known.
            let after = try await Self.ask(world, ["explain", night.quiet])
            #expect(after.output.contains("unchanged"), "\(after.output) \(after.errors)")
            let log = try await Self.ask(world, ["logs", "--run", night.quiet])
            #expect(log.status == 0)
        }
    }
}
