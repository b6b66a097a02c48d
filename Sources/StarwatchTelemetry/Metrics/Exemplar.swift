import Synchronization

/// The run and the request of an observation, shown next to its sample in OpenMetrics.
package struct Exemplar: Sendable, Hashable {
    package let runID: String
    /// `nil` for an observation that belongs to no single request.
    package let requestID: String?
    /// Unix time in milliseconds.
    package let timestampMilliseconds: Int64

    /// - Parameters:
    ///   - runID: Letters, digits, `-` and `_`. These need no escapes, and exclude DIDs.
    ///   - requestID: A text of the same characters; any other is left out.
    ///   - timestampMilliseconds: Unix time of the observation, in milliseconds.
    /// - Returns: `nil` if the id is empty, has other characters, or makes the label set longer than OpenMetrics'
    ///   limit of 128 characters.
    package init?(runID: String, requestID: String? = nil, atMilliseconds timestampMilliseconds: Int64) {
        let room = Self.longestLabelSet - "run_id".utf8.count - runID.utf8.count
        guard Self.isPlain(runID), room >= 0 else { return nil }
        self.runID = runID
        self.requestID = requestID.flatMap { id in
            Self.isPlain(id) && "request_id".utf8.count + id.utf8.count <= room ? id : nil
        }
        self.timestampMilliseconds = timestampMilliseconds
    }

    /// OpenMetrics' limit of names and values, in characters.
    private static let longestLabelSet = 128

    /// The characters of an identifier, as a table: a chain of comparisons takes three times the instructions.
    private static let plain = (UInt8.min...UInt8.max).map { $0.isLetter || $0.isDigit || $0 == 0x2D || $0 == 0x5F }

    private static func isPlain(_ text: String) -> Bool {
        // A string's bytes take a fraction of the instructions that its UTF-8 view takes.
        var text = text
        return text.withUTF8 { bytes in
            plain.withUnsafeBufferPointer { plain in !bytes.isEmpty && bytes.allSatisfy { plain[Int($0)] } }
        }
    }
}

/// The latest exemplar of each sample. It has its own lock, which only observations with an exemplar take.
final class ExemplarSlots: Sendable {
    typealias Entry = (exemplar: Exemplar, value: Double)

    private let entries: Mutex<[Entry?]>

    init(count: Int) { entries = Mutex(Array(repeating: nil, count: count)) }

    func put(_ exemplar: Exemplar, value: Double, at index: Int) {
        entries.withLock { $0[index] = (exemplar, value) }
    }

    var all: [Entry?] { entries.withLock { $0 } }
}
