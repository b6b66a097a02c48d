import Foundation
import MockEndorser
import StarwatchCore
import StarwatchStore
import StarwatchTelemetry

@testable import Starwatch

/// An agent on a database of its own, a mock of the canonical server, a clock that stands still, and sinks that do as
/// they are told. Nothing runs by itself: tests call the passes.
final class Bench {
    static let did = DID("did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK")!

    let folder: TestFolder
    let clock: ManualClock
    let mock: MockServer
    let sinks: [ScriptedSink]
    let options: AgentOptions
    /// The parts that every agent of the bench gets.
    private let dependencies: AgentDependencies
    /// Log of the agents, at the configured level.
    let log = LogCapture()
    private(set) var agent: Agent
    /// The sinks with their circuits, as this agent's dispatcher uses them.
    private(set) var slots: [SinkSlot] = []
    /// Delivers to ``sinks``, or to the configured ones where there are none.
    private(set) var dispatcher: DispatchService

    private init(
        folder: TestFolder,
        clock: ManualClock,
        mock: MockServer,
        sinks: [ScriptedSink],
        options: AgentOptions,
        dependencies: AgentDependencies
    ) async throws {
        self.folder = folder
        self.clock = clock
        self.mock = mock
        self.sinks = sinks
        self.options = options
        self.dependencies = dependencies
        agent = try await Agent(
            options: options,
            time: clock,
            logSinks: [log],
            dependencies: dependencies,
            random: { 0.5 }
        )
        dispatcher = agent.runtime.dispatcher
        wire()
    }

    /// Makes a bench, lets `body` use it, and takes it down.
    ///
    /// - Parameters:
    ///   - sinks: Names of scripted sinks; with none, the sinks that `configure` sets.
    ///   - server: Changes the mock's options, before it starts.
    ///   - configure: Changes the agent's options; the mock and the folder are there.
    static func run(
        sinks names: [String] = [],
        dependencies: AgentDependencies = AgentDependencies(),
        server: (inout MockServerOptions) -> Void = { _ in },
        configure: (inout AgentOptions, MockServer, TestFolder) throws -> Void = { _, _, _ in },
        _ body: (Bench) async throws -> Void
    ) async throws {
        let folder = try TestFolder()
        let clock = ManualClock()
        var mockOptions = MockServerOptions()
        mockOptions.now = { Date(timeIntervalSince1970: clock.now.seconds) }
        server(&mockOptions)
        let mock = MockServer(options: mockOptions)
        try await mock.start()
        do {
            var options = Self.options(mock: mock, folder: folder)
            options.delivery.sinks = names.map { SinkOptions(name: $0, kind: .log) }
            try configure(&options, mock, folder)
            if options.delivery.sinks.isEmpty { options.delivery.sinks = [SinkOptions(name: "log", kind: .log)] }
            let bench = try await Bench(
                folder: folder,
                clock: clock,
                mock: mock,
                sinks: names.map(ScriptedSink.init),
                options: options,
                dependencies: dependencies.patient
            )
            do {
                try await body(bench)
            } catch {
                await bench.agent.close()
                throw error
            }
            await bench.agent.close()
        } catch {
            try await mock.stop()
            throw error
        }
        try await mock.stop()
    }

    private static func options(mock: MockServer, folder: TestFolder) -> AgentOptions {
        var options = AgentOptions()
        options.server.url = mock.url
        options.server.dialect = .canonical
        options.initialIdentity = did
        options.storage.path = folder.path("starwatch.db")
        var poll = PollOptions(name: PollName("starred_projects")!, kind: .starredProjects)
        poll.planIDs = mock.planIDs
        poll.bootstrap = .beginning
        options.polls = [poll]
        options.delivery.groupInterval = .zero
        // Many tests let hours pass, and count notifications.
        options.delivery.stalenessNotice = false
        options.clock.source = .system
        options.http.listen = "127.0.0.1:0"
        options.control.socket = folder.path("control.sock")
        options.log.level = .critical
        return options
    }

    private func wire() {
        let metrics = agent.metrics
        guard !sinks.isEmpty else {
            (slots, dispatcher) = (agent.process.sinks, agent.runtime.dispatcher)
            return
        }
        slots = zip(sinks, agent.options.delivery.sinks).map { sink, settings in
            SinkSlot(
                sink,
                settings,
                label: metrics.sinkNames[sink.name]!,
                target: metrics.circuitNames[sink.name]!
            )
        }
        dispatcher = DispatchService(
            polls: agent.runtime.polls,
            sinks: slots,
            options: agent.options,
            account: agent.runtime.account
        )
    }

    // MARK: - Doing

    /// Publishes changes and fetches them; their ids.
    @discardableResult
    func fetch(_ count: Int) async -> [String] {
        let ids = mock.publish(count: count)
        await poll()
        return ids
    }

    /// One cycle of the poll.
    @discardableResult
    func poll() async -> PollCycle.Result {
        await agent.runtime.pollService.pass(agent.runtime.polls[0], runID: "run_of_the_test")
    }

    @discardableResult
    func dispatch() async -> DispatchService.Pass { await dispatcher.pass() }

    @discardableResult
    func acknowledge() async -> AcknowledgeService.Pass { await agent.runtime.acknowledger.pass() }

    /// Replaces the agent as a reload of the same configuration does.
    func reload() async throws {
        await agent.close()
        agent = try await Agent(
            options: options,
            time: clock,
            after: agent,
            logSinks: [log],
            dependencies: dependencies,
            random: { 0.5 }
        )
        wire()
    }

    /// Ends the agent as a crash would, and makes a new one on the same database.
    func restart(_ change: (inout AgentOptions) -> Void = { _ in }) async throws {
        await agent.close()
        var options = options
        change(&options)
        agent = try await Agent(
            options: options,
            time: clock,
            logSinks: [log],
            dependencies: dependencies,
            random: { 0.5 }
        )
        wire()
    }

    // MARK: - Looking

    var stream: StreamKey { StreamKey(account: Self.did, server: mock.url, poll: options.polls[0].name) }

    /// The scripted sink of that name.
    subscript(name: String) -> ScriptedSink { sinks.first { $0.name == name }! }

    func slot(_ name: String) -> SinkSlot { slots.first { $0.name == name }! }

    func watermark() async throws -> String? { try await agent.store.acknowledgements.watermark(stream)?.rawValue }

    /// The rows in a state, or all of them, the oldest first.
    func rows(_ state: OutboxState? = nil) async throws -> [OutboxEntry] {
        try await agent.outboxList(state: state?.rawValue).reversed()
    }

    /// The number of rows in each state that has any.
    func counts() async throws -> [OutboxState: Int] {
        try await rows().reduce(into: [:]) { $0[$1.state, default: 0] += 1 }
    }

    /// By how many rows the books are out; must be 0 at any time.
    func imbalance() async throws -> Int {
        let snapshot = try await agent.store.status.snapshot([])
        return snapshot.fetchedImbalance + snapshot.newImbalance
    }

    func attempts(_ sink: String, _ result: SinkAttemptResult) -> UInt64 {
        agent.metrics.outbox.deliveryAttempts[agent.metrics.sinkNames[sink]!, result].value
    }

    /// The value of one series on the page of metrics, as its text; `nil` when it is not there.
    func sample(_ series: String) async -> String? {
        await agent.topics.metrics.refreshGauges()
        let page = String(decoding: agent.metrics.registry.page(.text), as: UTF8.self)
        return page.split(separator: "\n").first { $0.hasPrefix(series + " ") }.map {
            String($0.dropFirst(series.count + 1))
        }
    }
}
