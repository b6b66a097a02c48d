import Foundation
import MockEndorser
import NIOConcurrencyHelpers

/// A clock that only a test advances.
final class HandClock: Sendable {
    private let value: NIOLockedValueBox<Date>

    init(_ seconds: Double = 1_767_225_630) {
        value = NIOLockedValueBox(Date(timeIntervalSince1970: seconds))
    }

    var now: Date { value.withLockedValue { $0 } }

    func advance(by seconds: Double) {
        value.withLockedValue { $0.addTimeInterval(seconds) }
    }
}

/// A running mock with a client for it.
struct TestWorld: Sendable {
    static let changes = "/api/v2/report/plansLastUpdatedBetween"
    static let acknowledge = "/api/v2/plans/acknowledge"

    let server: MockServer
    let clock: HandClock
    var probe: Probe

    /// Runs `body` with a mock, then stops the mock.
    static func run(
        _ dialect: MockDialect,
        _ configure: (inout MockServerOptions) -> Void = { _ in },
        _ body: (TestWorld) async throws -> Void
    ) async throws {
        let clock = HandClock()
        var options = MockServerOptions()
        options.dialect = dialect
        options.now = { clock.now }
        configure(&options)
        let server = MockServer(options: options)
        try await server.start()
        do {
            try await body(TestWorld(server: server, clock: clock, probe: Probe(port: server.port)))
        } catch {
            try await server.stop()
            throw error
        }
        try await server.stop()
    }

    /// Requests the changes of all plans.
    func poll(after: String? = nil, before: String? = nil, limit: Int? = nil) async throws -> Answer {
        var body: [String: Any] = ["planIds": server.planIDs]
        body["afterId"] = after
        body["beforeId"] = before
        body["limit"] = limit
        return try await probe.post(Self.changes, body)
    }

    /// Acknowledges identifiers with an idempotency key.
    func acknowledge(_ ids: [String], key: String) async throws -> Answer {
        try await probe.post(
            Self.acknowledge,
            ["acknowledgedJwtIds": ids, "acknowledgedAt": "2026-01-01T00:00:00Z", "clientVersion": "test/1"],
            headers: ["X-Idempotency-Key": key]
        )
    }
}
