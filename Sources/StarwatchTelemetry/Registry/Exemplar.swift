import Synchronization

/// The run that an observation belongs to, shown beside the sample in OpenMetrics.
package struct Exemplar: Sendable, Hashable {
    package let runID: String
    /// Unix time in milliseconds.
    package let timestampMilliseconds: Int64

    /// - Parameters:
    ///   - runID: Of letters, digits, `-` and `_`, so that it is neither an identifier of a person nor needs escapes.
    ///   - timestampMilliseconds: Unix time of the observation.
    /// - Returns: `nil` if the id has other characters, is empty, or would make the label set longer than the 128
    ///   characters OpenMetrics allows.
    package init?(runID: String, atMilliseconds timestampMilliseconds: Int64) {
        let bytes = runID.utf8
        guard !bytes.isEmpty, bytes.count <= 128 - "run_id".utf8.count else { return nil }
        guard bytes.allSatisfy({ $0.isLetter || $0.isDigit || $0 == 0x2D || $0 == 0x5F }) else { return nil }
        self.runID = runID
        self.timestampMilliseconds = timestampMilliseconds
    }
}

/// The latest exemplar of each sample. A lock of its own: only observations that bring an exemplar take it.
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
