import MockEndorser
import StarwatchCore
import StarwatchStore
import StarwatchTelemetry

@testable import Starwatch

/// A bench with one digest at 13:00 UTC, an hour after its clock starts, whose content is the mock's.
enum DigestBench {
    static let name = DigestName("daily")!
    static let day = ManualClock.start + .seconds(3600)

    static func run(
        sinks: [String] = ["phone"],
        callbacks: (inout CallbackOptions, MockServer) -> Void = { _, _ in },
        digest configure: (inout DigestOptions, TestFolder) throws -> Void = { _, _ in },
        options change: (inout AgentOptions) -> Void = { _ in },
        _ body: (Bench) async throws -> Void
    ) async throws {
        var dependencies = AgentDependencies()
        // The limits of a digest's requests are those of a phone: 12 s for content, and 8 s for a callback.
        dependencies.network = { PatientTransport(transport: $0) }
        try await Bench.run(
            sinks: sinks,
            dependencies: dependencies,
            configure: { options, mock, folder in
                mock.content = #"{"count": 3, "who": "Ada"}"#
                var digest = DigestOptions(name: name, fetch: FetchOptions(url: mock.url + "/content"))
                digest.times = [DayTime("13:00")!]
                digest.timezone = "UTC"
                digest.title = "Daily"
                digest.body = "{{count}} new for {{who}}"
                digest.fallbackBody = "Open the app"
                try configure(&digest, folder)
                options.digests = [digest]
                callbacks(&options.callbacks, mock)
                options.log.level = .debug
                change(&options)
            },
            body
        )
    }
}

extension Bench {
    var digests: DigestService { agent.runtime.digests! }
    var callbacks: CallbackService { agent.runtime.callbacks! }

    /// A pass, and the fetches it announced.
    @discardableResult
    func arm() async -> DigestService.Pass {
        let pass = await digests.pass()
        for fetch in pass.fetches { await digests.fetch(fetch) }
        return pass
    }

    /// As ``arm()``, until nothing is left to do now.
    func settle() async {
        for _ in 0..<4 { await arm() }
    }

    /// Moves the clock to a time of the bench's first day.
    func move(to text: String) {
        let time = DayTime(text)!
        let midnight = ManualClock.start - .seconds(12 * 3600)
        let target = midnight + .seconds(time.hour * 3600 + time.minute * 60)
        clock.advance(by: target - clock.now)
    }

    /// Moves the clock to a digest's time, and shows and delivers it.
    func show(at text: String) async {
        move(to: text)
        await arm()
        await dispatch()
    }

    func stored() async throws -> [DigestState.Row] {
        try await agent.store.digests.state(of: Bench.did, since: clock.now - .seconds(86_400 * 3)).rows
    }

    func count(_ status: SlotStatus) -> UInt64 { agent.metrics.digests.deliveries[status].value }

    func count(_ outcome: DigestPrefetchOutcome) -> UInt64 { agent.metrics.digests.prefetches[outcome].value }

    var contentRequests: [RecordedRequest] { mock.requests(to: .content) }
}

extension DigestOptions {
    /// The request for the content of one that has one.
    var fetch: FetchOptions {
        get { content.fetch! }
        set { content = .request(newValue) }
    }
}
