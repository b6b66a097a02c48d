package import StarwatchCore

/// A notification that the feed keeps.
package struct FeedRow: Sendable, Hashable {
    /// Greater than that of every row before it, whatever became of them.
    package let sequence: Int64
    /// What sinks got, byte for byte.
    package let payload: [UInt8]
    package let storedAt: Timestamp

    package init(sequence: Int64, payload: [UInt8], storedAt: Timestamp) {
        self.sequence = sequence
        self.payload = payload
        self.storedAt = storedAt
    }
}
