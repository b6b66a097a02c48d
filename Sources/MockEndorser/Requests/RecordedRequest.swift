public import Foundation

/// A request received by the mock. `/mock/` requests are not recorded.
public struct RecordedRequest: Sendable {
    public let endpoint: MockEndpoint
    public let method: String
    /// The path without the query.
    public let path: String
    /// The encoded query without the question mark; `nil` if there was none.
    public let query: String?
    /// Headers in the order of arrival.
    public let headers: [(name: String, value: String)]
    /// The body up to the server's size limit.
    public let body: Data
    /// Time of the complete request, on the mock's clock without its skew.
    public let receivedAt: Date

    /// The first value of a header, ignoring the name's case; `nil` if there is none.
    public func header(_ name: String) -> String? {
        headers.first { $0.name.caseInsensitiveCompare(name) == .orderedSame }?.value
    }
}

/// A bounded list of requests, with a count per endpoint and the tasks that wait for a count.
struct RequestLog: Sendable {
    /// A task that waits for a number of requests.
    struct Waiter: Sendable {
        let count: Int
        let endpoint: MockEndpoint
        let continuation: CheckedContinuation<Void, any Error>
    }

    private let capacity: Int
    private var ring: [RecordedRequest] = []
    private var oldest = 0
    private(set) var counts: [MockEndpoint: Int] = [:]
    private var waiters: [Int: Waiter] = [:]
    private var nextWaiter = 0

    init(capacity: Int) { self.capacity = capacity }

    /// The recorded requests, oldest first.
    var requests: [RecordedRequest] { Array(ring[oldest...] + ring[..<oldest]) }

    /// Records a request and resumes the tasks that waited for it.
    mutating func record(_ request: RecordedRequest) {
        if ring.count < capacity {
            ring.append(request)
        } else if capacity > 0 {
            ring[oldest] = request
            oldest = (oldest + 1) % capacity
        }
        let count = counts[request.endpoint, default: 0] + 1
        counts[request.endpoint] = count
        guard !waiters.isEmpty else { return }
        for (key, waiter) in waiters where waiter.endpoint == request.endpoint && waiter.count <= count {
            waiters[key] = nil
            waiter.continuation.resume()
        }
    }

    /// Returns a new key for ``wait(_:key:)`` and ``cancel(_:)``.
    mutating func makeKey() -> Int {
        nextWaiter += 1
        return nextWaiter
    }

    /// Resumes the waiter when its count is reached, immediately if it already is.
    mutating func wait(_ waiter: Waiter, key: Int) {
        if counts[waiter.endpoint, default: 0] >= waiter.count {
            waiter.continuation.resume()
        } else {
            waiters[key] = waiter
        }
    }

    /// Ends a wait with `CancellationError`.
    mutating func cancel(_ key: Int) {
        waiters.removeValue(forKey: key)?.continuation.resume(throwing: CancellationError())
    }

    /// Empties the list and the counts.
    mutating func forget() {
        ring = []
        oldest = 0
        counts = [:]
    }
}
