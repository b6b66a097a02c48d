import Synchronization

/// The run of an observation, shown next to its sample in OpenMetrics.
package struct Exemplar: Sendable, Hashable {
    package let runID: String
    /// Unix time in milliseconds.
    package let timestampMilliseconds: Int64

    /// - Parameters:
    ///   - runID: Letters, digits, `-` and `_`. These need no escapes, and exclude DIDs.
    ///   - timestampMilliseconds: Unix time of the observation, in milliseconds.
    /// - Returns: `nil` if the id is empty, has other characters, or makes the label set longer than OpenMetrics'
    ///   limit of 128 characters.
    package init?(runID: String, atMilliseconds timestampMilliseconds: Int64) {
        let bytes = runID.utf8
        guard !bytes.isEmpty, bytes.count <= 128 - "run_id".utf8.count else { return nil }
        guard bytes.allSatisfy({ $0.isLetter || $0.isDigit || $0 == 0x2D || $0 == 0x5F }) else { return nil }
        self.runID = runID
        self.timestampMilliseconds = timestampMilliseconds
    }
}

/// The latest exemplar of each sample. It has its own lock, which only observations with an exemplar take.
final class ExemplarSlots: Sendable {
    struct Entry: Sendable {
        let exemplar: Exemplar
        let value: Double
    }

    private let entries: Mutex<[Entry?]>

    init(count: Int) {
        entries = Mutex(Array(repeating: nil, count: count))
    }

    func put(_ exemplar: Exemplar, value: Double, at index: Int) {
        entries.withLock { $0[index] = Entry(exemplar: exemplar, value: value) }
    }

    var all: [Entry?] { entries.withLock { $0 } }
}
