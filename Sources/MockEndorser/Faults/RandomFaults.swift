/// Draws faults at random, repeatably: at each endpoint every kind comes once before any comes again.
struct RandomFaults: Sendable {
    /// Every kind of fault, none lasting longer than seconds. Status 410 is not among them: it would turn a sink off
    /// for good.
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

    /// How often each kind was drawn, by its name.
    private(set) var counts: [String: Int] = [:]
    private let rate: Double
    private var random: SeededRandom
    /// Indexes of ``kinds`` still to come.
    private var decks: [MockEndpoint: [Int]] = [:]

    /// - Parameter rate: The share of requests that get a fault, 0 to 1.
    init(rate: Double, seed: UInt64) {
        self.rate = rate
        random = SeededRandom(seed: seed)
    }

    /// The fault for a request that has just come; `nil` for most.
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
