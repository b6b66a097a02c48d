/// The faults to come, for each endpoint: first those scripted one by one, then one that stays.
struct FaultScript: Sendable {
    private var queues: [MockEndpoint: [MockFault]] = [:]
    private var sticky: [MockEndpoint: MockFault] = [:]

    /// Adds faults for the next requests, one each.
    mutating func enqueue(_ faults: [MockFault], for endpoint: MockEndpoint) {
        queues[endpoint, default: []] += faults
    }

    /// Sets the fault of every request that finds no scripted one; `nil` ends it.
    mutating func stick(_ fault: MockFault?, to endpoint: MockEndpoint) {
        sticky[endpoint] = fault
    }

    /// The fault for a request that has just come.
    mutating func take(for endpoint: MockEndpoint) -> MockFault? {
        if let next = queues[endpoint]?.first {
            queues[endpoint]?.removeFirst()
            return next
        }
        return sticky[endpoint]
    }

    /// The number of faults scripted and not yet used.
    func remaining(for endpoint: MockEndpoint) -> Int {
        queues[endpoint]?.count ?? 0
    }

    /// Ends all faults.
    mutating func clear() {
        queues = [:]
        sticky = [:]
    }
}
