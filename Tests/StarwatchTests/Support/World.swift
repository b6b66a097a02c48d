import Foundation
import MockEndorser
import ServiceLifecycle
import StarwatchCore
import StarwatchStore
import Synchronization

@testable import Starwatch

/// A server, a clock, a folder, and the agents that are started in it one after the other.
final class World: Sendable {
    static let starred = "starred_projects"
    static let ethr = TestAccount.ethr
    /// The private key of ``ethr``.
    static let ethrKey = "278a5de700e29faae8e40e366ec5012b5ec63d36ec77e8a2417154cc1d25383f"
    static let key = TestAccount.key
    static let other = TestAccount.other

    let folder: TestFolder
    let clock: ManualClock
    let mock: MockServer
    let did: DID
    /// Log of the agents, at their configured level.
    let log = LogCapture()
    private let current = Mutex<Agent?>(nil)

    private init(_ options: MockServerOptions, clock: ManualClock) throws {
        folder = try TestFolder()
        self.clock = clock
        mock = MockServer(options: options)
        did = options.dialect == .endorser ? Self.ethr : Self.key
    }

    /// Makes a world, gives it to `body`, and takes it down again.
    ///
    /// - Parameter clock: `.jumping` for tests of one cycle at a time, whose waits are only looked at afterwards.
    static func with(
        _ dialect: MockDialect,
        clock mode: ManualClock.Mode = .jumping,
        plans: Int = 20,
        mock configure: (inout MockServerOptions) -> Void = { _ in },
        _ body: (World) async throws -> Void
    ) async throws {
        let clock = ManualClock(mode: mode)
        var options = MockServerOptions()
        options.dialect = dialect
        options.planCount = plans
        options.now = { Date(timeIntervalSince1970: clock.now.seconds) }
        configure(&options)
        let world = try World(options, clock: clock)
        try await world.mock.start()
        do {
            try await body(world)
        } catch {
            await world.end()
            throw error
        }
        await world.end()
    }

    private func end() async {
        await stopAgent()
        try? await mock.stop()
    }

    /// The options of an agent that watches all plans of the mock and writes to a file.
    var options: AgentOptions {
        var options = AgentOptions()
        options.server.url = mock.url
        options.initialIdentity = did
        options.storage.path = folder.path("starwatch.db")
        var poll = PollOptions(name: PollName(Self.starred)!, kind: .starredProjects)
        poll.planIDs = mock.planIDs
        options.polls = [poll]
        options.delivery.groupInterval = .zero
        // Many tests let hours pass, and count notifications.
        options.delivery.stalenessNotice = false
        options.delivery.sinks = [SinkOptions(name: "file", kind: .file(path: folder.path("sink.jsonl")))]
        options.http.listen = "127.0.0.1:0"
        options.control.socket = folder.path("control.sock")
        options.log.level = .critical
        return options
    }

    /// Starts an agent; one that runs is closed first, as at a restart.
    ///
    /// - Parameters:
    ///   - random: The number that every jitter draws; 0.5 is its middle.
    ///   - former: The agent before a reload.
    @discardableResult
    func agent(
        random: Double = 0.5,
        after former: Agent? = nil,
        dependencies: AgentDependencies = AgentDependencies(),
        _ change: (inout AgentOptions) -> Void = { _ in }
    ) async throws -> Agent {
        await stopAgent()
        var options = self.options
        change(&options)
        let agent = try await Agent(
            options: options,
            time: clock,
            after: former,
            logSinks: [log],
            dependencies: dependencies.patient,
            random: { random }
        )
        current.withLock { $0 = agent }
        return agent
    }

    func stopAgent() async {
        let agent = current.withLock { current in
            defer { current = nil }
            return current
        }
        await agent?.close()
    }

    /// Notifications in the file sink.
    struct Notification: Decodable {
        struct Change: Decodable {
            let jwt_id: String
        }
        let id: String
        let poll: String
        let body: String
        let count: Int
        let account: String?
        let changes: [Change]
    }

    /// The lines of the file sink; those of many accounts, each of which has a file, one account after the other.
    var lines: [Data] {
        get throws {
            let files = try FileManager.default.contentsOfDirectory(atPath: folder.path("")).filter {
                $0.hasPrefix("sink.") && $0.hasSuffix(".jsonl")
            }
            return files.sorted().flatMap { file in
                (FileManager.default.contents(atPath: folder.path(file)) ?? Data()).split(separator: UInt8(ascii: "\n"))
            }
        }
    }

    var notifications: [Notification] {
        get throws { try lines.map { try JSONDecoder().decode(Notification.self, from: $0) } }
    }

    /// The ids of all changes in all notifications, which name at most 100 each, in the order of delivery.
    var announced: [String] {
        get throws { try notifications.flatMap { $0.changes.map(\.jwt_id) } }
    }
}

extension World {
    /// Returns when no cycle is in progress but one that sleeps, and so many others sleep: the visit, housekeeping and the clock.
    func rest(_ agent: Agent, sleepers: Int = 3) async {
        await clock.sleepers(atLeast: sleepers)
        while agent.isPolling, clock.sleeperCount <= sleepers { await Task.yield() }
        await clock.sleepers(atLeast: sleepers)
    }
}

extension Agent {
    /// Whether a cycle is in progress.
    var isPolling: Bool { runtime.pollService.isPolling }

    var starred: Poll { runtime.polls.first { $0.name.rawValue == World.starred }! }

    var canaryFacts: HealthFacts.Canary? { process.canaries?.facts(in: process.environment) }

    /// The service of a kind that the agent runs; `nil` when there is none.
    func worker<Worker: Service>(_ kind: Worker.Type) -> Worker? {
        RunServices(self, nil).workers.lazy.compactMap { $0 as? Worker }.first
    }

    /// A cycle without delivery.
    func cycle() async -> PollCycle.Result { await runtime.pollService.pass(starred, runID: "run_test") }

    /// Fetch position of `did`'s starred poll.
    func state(of did: DID) async throws -> PollState {
        try await store.polls.state(
            StreamKey(account: did, server: runtime.account.server, poll: starred.name),
            maxUndelivered: options.outbox.maxUndelivered
        )
    }

    /// The ids of the outbox's rows in these states, in their order.
    func rows(_ states: Set<OutboxState>) async throws -> [String] {
        var filter = OutboxFilter()
        filter.states = states
        filter.limit = 100_000
        return try await store.outbox.list(filter).map(\.change.id.rawValue)
    }

    /// The status after a look for problems, which logs them and gives them to the metrics.
    @discardableResult
    func look() async -> AgentStatus { await topics.status.look() }

    /// The page of metrics as a scrape gets it.
    func page() async -> MetricsPage {
        MetricsPage(await topics.metrics(MetricsQuery()).body)
    }
}
