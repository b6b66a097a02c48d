import StarwatchCore
import StarwatchStore
import StarwatchTransport
import Synchronization
import Testing

@testable import Starwatch
@testable import StarwatchPolling

/// Timeouts of content fetches and callbacks.
@Suite struct DigestLimitTests {
    /// Keeps the limits of the requests that it is asked for, and refuses them.
    private final class Limits: HTTPTransport {
        let seen = Mutex<[Duration]>([])

        func exchange(_ request: HTTPRequest) async -> HTTPExchange {
            if let limit = request.timeout { seen.withLock { $0.append(limit) } }
            let now = StarwatchTransport.ClockReading(wall: ManualClock.start, monotonic: .zero)
            return HTTPExchange(
                result: .failure(.timeout),
                measurements: HTTPMeasurements(sentAt: now, receivedAt: now)
            )
        }

        func shutdown() {}
    }

    private static let arguments: [(Duration?, Duration, Duration)] = [
        (nil, .seconds(12), .seconds(8)), (.seconds(3), .seconds(3), .seconds(3)),
        (.seconds(60), .seconds(12), .seconds(8)),
    ]

    @Test(arguments: arguments)
    func aRequestTakesNoLongerThanItsOptionsSayAndNeverMore(
        option: Duration?,
        content: Duration,
        callback: Duration
    ) async throws {
        let http = Limits()
        let clock = ManualClock()
        var fetch = FetchOptions(url: "https://example.org")
        fetch.timeout = option
        let digest = Digest(
            DigestOptions(name: DigestBench.name, fetch: fetch),
            token: nil,
            zone: { FixedZone.utc }
        )
        let gates = Gates(store: nil, requestsPerMinute: 100, time: clock)
        let requester = Requester(gates: gates, time: clock, random: { 0.5 })
        let (end, _) = await DigestFetcher(http: http, requester: requester).fetch(
            digest,
            for: .init(digest: digest.name, occurrence: nil, account: Bench.did, generation: 1),
            stored: nil
        )
        #expect(end.outcome == .timeout)
        let receiver = CallbackReceiver(kinds: [.heartbeat], options: fetch, token: nil, http: http)
        try await DigestBench.run { (bench: Bench) async throws in
            _ = try await bench.agent.store.events.enqueue(
                [EventDraft(kind: .heartbeat, payload: "{}")],
                now: clock.now
            )
            let event = try #require(try await bench.agent.store.events.due([.heartbeat], now: clock.now).first)
            #expect(await receiver.send(event, time: clock) == .timeout)
        }
        #expect(http.seen.withLock { $0 } == [content, callback])
    }
}
