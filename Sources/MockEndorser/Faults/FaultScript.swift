/// The faults to inject, for each endpoint: first the scripted ones, then the sticky one, then random ones.
struct FaultScript: Sendable {
    private var queues: [MockEndpoint: [MockFault]] = [:]
    private var sticky: [MockEndpoint: MockFault] = [:]
    private(set) var random: RandomFaults
    /// Gzip streams by their unpacked size in bytes.
    private var bombs: [Int: [UInt8]] = [:]

    init(random: RandomFaults) { self.random = random }

    /// Adds faults for the next requests, one each.
    mutating func enqueue(_ faults: [MockFault], for endpoint: MockEndpoint) {
        for fault in faults { prepare(fault) }
        queues[endpoint, default: []] += faults
    }

    /// Sets the fault of every request without a scripted one; `nil` removes it.
    mutating func stick(_ fault: MockFault?, to endpoint: MockEndpoint) {
        if let fault { prepare(fault) }
        sticky[endpoint] = fault
    }

    /// Returns the fault for a new request; `nil` for none.
    mutating func take(for endpoint: MockEndpoint) -> MockFault? {
        if let next = queues[endpoint]?.first {
            queues[endpoint]?.removeFirst()
            return next
        }
        return sticky[endpoint] ?? random.draw(for: endpoint)
    }

    /// Number of scripted faults not yet used.
    func remaining(for endpoint: MockEndpoint) -> Int { queues[endpoint]?.count ?? 0 }

    /// Removes all scripted and sticky faults.
    mutating func clear() {
        queues = [:]
        sticky = [:]
    }

    /// A gzip stream that unpacks to `bytes` bytes. Each size is made only once, because it takes long.
    mutating func bomb(unpackedBytes bytes: Int) -> [UInt8] {
        if let known = bombs[bytes] { return known }
        let bomb = GzipBomb.make(unpackedBytes: bytes)
        bombs[bytes] = bomb
        return bomb
    }

    /// Does the slow work of a fault in advance, so that its response is not late.
    private mutating func prepare(_ fault: MockFault) {
        if case .oversizedBody(let bytes, gzip: true, _) = fault { _ = bomb(unpackedBytes: bytes) }
    }
}

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
