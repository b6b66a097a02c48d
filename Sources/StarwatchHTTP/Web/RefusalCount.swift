import NIOCore

/// The refused requests of each client in the last minute.
struct RefusalCount {
    /// The number of refusals in a minute after which a client has to wait.
    static let limit = 10
    static let window = Duration.seconds(60)
    /// The number of clients that are remembered. Of more, the ones refused first are forgotten.
    static let capacity = 1024

    struct Key: Hashable {
        var client: ClientNetwork
        /// Whether the request had a token or a password. A page of a browser can send requests without one from the same address, and
        /// must not make the others wait.
        var hasToken: Bool
        init(_ address: SocketAddress?, hasToken: Bool) {
            client = ClientNetwork(address)
            self.hasToken = hasToken
        }
    }

    private var refusals: [Key: (since: Duration, count: Int)] = [:]

    /// The number of remembered clients.
    var count: Int { refusals.count }

    /// Returns the time that a client has to wait; `nil` for none.
    func wait(_ key: Key, at now: Duration) -> Duration? {
        guard let (since, count) = refusals[key], count >= Self.limit, now - since < Self.window else { return nil }
        return Self.window - (now - since)
    }

    mutating func add(_ key: Key, at now: Duration) {
        if let (since, count) = refusals[key], now - since < Self.window {
            refusals[key] = (since, count + 1)
            return
        }
        if refusals[key] == nil, refusals.count >= Self.capacity {
            refusals = refusals.filter { now - $0.value.since < Self.window }
            if refusals.count >= Self.capacity, let oldest = refusals.min(by: { $0.value.since < $1.value.since }) {
                refusals[oldest.key] = nil
            }
        }
        refusals[key] = (now, 1)
    }
}
