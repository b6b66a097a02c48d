/// Draws random faults, reproducibly. At each endpoint every kind occurs once before any repeats.
struct RandomFaults: Sendable {
    /// All kinds of faults, each lasting a few seconds at most. Status 410 is excluded, because it would disable a sink
    /// permanently.
    static let kinds: [(name: String, fault: MockFault)] =
        [400, 403, 404, 408, 409, 413, 415, 500, 502, 503, 504].map { ("status_\($0)", .status($0)) }
        + MockSchemaViolation.allCases.map { ("schema_\($0.rawValue)", .schemaViolation($0)) }
        + [
            ("delay", .delay(.seconds(1))),
            ("drip_body", .dripBody(chunkBytes: 64, every: .milliseconds(10))),
            ("reset_before_head", .resetBeforeHead),
            ("reset_mid_body", .resetMidBody(afterBytes: 20)),
            ("never_answer", .neverAnswer),
            ("malformed_json", .malformedJSON),
            ("oversized_body", .oversizedBody(bytes: 12 << 20)),
            ("gzip_bomb", .oversizedBody(bytes: 12 << 20, gzip: true)),
            ("redirect", .redirect(to: "http://127.0.0.1:9/")),
            ("rate_limited", .rateLimited(retryAfter: .seconds(2))),
            ("rate_limited_until", .rateLimited(retryAfter: .date(in: .seconds(2)))),
            ("commit_then_reset", .commitThenReset),
            ("authentication_failure", .authenticationFailure),
        ]

    /// Number of draws, by the kind's name.
    private(set) var counts: [String: Int] = [:]
    private let rate: Double
    private var random: SeededRandom
    /// Indexes of ``kinds`` not yet drawn.
    private var decks: [MockEndpoint: [Int]] = [:]

    /// - Parameters:
    ///   - rate: Share of requests with a fault, 0 to 1.
    ///   - seed: The generator's seed.
    init(rate: Double, seed: UInt64) {
        self.rate = rate
        random = SeededRandom(seed: seed)
    }

    /// Draws the fault for a new request; `nil` for none.
    mutating func draw(for endpoint: MockEndpoint) -> MockFault? {
        guard rate > 0, Double.random(in: 0..<1, using: &random) < rate else { return nil }
        var deck = decks[endpoint] ?? []
        if deck.isEmpty { deck = Self.kinds.indices.shuffled(using: &random) }
        let (name, fault) = Self.kinds[deck.removeLast()]
        decks[endpoint] = deck
        counts[name, default: 0] += 1
        return fault
    }
}
