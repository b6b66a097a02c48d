import StarwatchStore

/// Lets many callers share one write: those that come while a write is under way share the next.
struct GroupCommit {
    private var entered = 0
    private var writing: Int?
    private var written = 0
    private var waiting: [CheckedContinuation<StoreError?, Never>] = []

    var isWriting: Bool { writing != nil }

    /// Takes part: what the caller changed before this is in every write that begins after it.
    ///
    /// - Returns: A ticket for ``isCovered(_:)``.
    mutating func enter() -> Int {
        entered += 1
        return entered
    }

    /// Whether a write that has ended well holds what the ticket's owner changed.
    func isCovered(_ ticket: Int) -> Bool { ticket <= written }

    /// Waits for the write that is under way; the answer is why it failed, or `nil`.
    mutating func wait(_ continuation: CheckedContinuation<StoreError?, Never>) { waiting.append(continuation) }

    /// Begins a write, which holds what all have changed who entered so far.
    mutating func begin() { writing = entered }

    /// Ends the write and wakes all who waited for it.
    mutating func end(_ failure: StoreError?) {
        if failure == nil, let writing { written = writing }
        writing = nil
        let waiting = self.waiting
        self.waiting = []
        for continuation in waiting { continuation.resume(returning: failure) }
    }
}
