package import StarwatchCore

/// A notification in the feed.
package struct FeedRow: Sendable, Hashable {
    /// The sequence number. It rises with every row and is never reused.
    package let sequence: Int64
    /// The exact bytes that sinks received.
    package let payload: [UInt8]
    package let storedAt: Timestamp

    package init(sequence: Int64, payload: [UInt8], storedAt: Timestamp) {
        self.sequence = sequence
        self.payload = payload
        self.storedAt = storedAt
    }
}
