/// The faults to inject, for each endpoint: first the scripted ones, then the sticky one, then random ones.
struct FaultScript: Sendable {
    private var queues: [MockEndpoint: [MockFault]] = [:]
    private var sticky: [MockEndpoint: MockFault] = [:]
    private(set) var random: RandomFaults
    /// Gzip streams by their unpacked size in bytes.
    private var bombs: [Int: [UInt8]] = [:]

    init(random: RandomFaults) {
        self.random = random
    }

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
    func remaining(for endpoint: MockEndpoint) -> Int {
        queues[endpoint]?.count ?? 0
    }

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
