/// A ring of records in the black box, which decides where the next one goes.
///
/// A record that does not fit before the end of its part begins at the start of the part. It overwrites the oldest ones.
package struct BlackBoxRing: Sendable {
    package enum Kind: Sendable, CaseIterable {
        /// Starts and ends of runs.
        case marks
        case lines

        /// The part of the file.
        package var part: Range<Int> {
            switch self {
            case .marks: BlackBox.headBytes..<65_536
            case .lines: 65_536..<BlackBox.fileBytes
            }
        }
    }

    package let kind: Kind
    /// The place of the next record.
    package private(set) var offset: Int
    /// The sequence of the next record.
    package private(set) var sequence: UInt64 = 1

    package init(_ kind: Kind) {
        self.kind = kind
        offset = kind.part.lowerBound
    }

    /// Places a record: its bytes belong at the returned offset.
    package mutating func place(
        _ record: BlackBoxRecord.Kind,
        at time: Timestamp,
        _ text: String
    ) -> (offset: Int, bytes: [UInt8]) {
        let bytes = BlackBoxRecord(record, sequence: sequence, at: time, text).frame
        let place = offset + bytes.count <= kind.part.upperBound ? offset : kind.part.lowerBound
        (offset, sequence) = (place + bytes.count, sequence + 1)
        return (place, bytes)
    }

    /// Continues after a record that the file contains, if it is newer than the last one.
    mutating func follow(_ sequence: UInt64, end: Int) {
        guard sequence >= self.sequence else { return }
        (offset, self.sequence) = (end, sequence + 1)
    }
}

/// The black box: a file of a fixed size beside the database that holds the last log lines and the marks of the last
/// runs, and that is readable when the database is not.
///
/// Each record stands alone. A torn write, a wrong byte or a lost page costs the records that it hits, and no other.
package enum BlackBox {
    package static let fileBytes = 262_144
    package static let headBytes = 64

    /// The name of the file beside a database.
    package static func path(besides database: String) -> String { database + ".blackbox" }

    private static let name = "starwatch black box "

    /// The first bytes of a file.
    package static var head: [UInt8] {
        let text = Array("\(name)\(BlackBoxRecord.version)\n".utf8)
        return text + [UInt8](repeating: 0, count: headBytes - text.count)
    }

    /// The place of the last sign of life in the head, in whose zeros earlier versions read nothing.
    package static let signOffset = 32

    /// A sign of life of a run: the time, and its complement as a check.
    package static func sign(at time: Timestamp) -> [UInt8] {
        [time.milliseconds, ~time.milliseconds].flatMap { number in
            withUnsafeBytes(of: number.littleEndian) { Array($0) }
        }
    }

    private static func sign(in bytes: UnsafeRawBufferPointer) -> Timestamp? {
        guard bytes.count >= headBytes else { return nil }
        let numbers = [0, 8].map {
            Int64(littleEndian: bytes.loadUnaligned(fromByteOffset: signOffset + $0, as: Int64.self))
        }
        return numbers[0] > 0 && numbers[1] == ~numbers[0] ? Timestamp(milliseconds: numbers[0]) : nil
    }

    /// The content of a file.
    package struct Content: Sendable {
        /// The records of each ring in the order in which they were written.
        package var lines: [BlackBoxRecord] = []
        package var marks: [BlackBoxRecord] = []
        /// The number of records that were torn or are damaged.
        package var damaged = 0
        /// The rings, for the next records.
        package var rings: [BlackBoxRing.Kind: BlackBoxRing] = [:]

        /// The last sign of life of the last run, whatever other programs have recorded since; `nil` if it left none.
        package var sign: Timestamp?

        /// The last sign of life, or else the last record.
        package var lastSign: Timestamp? { sign ?? [lines.last?.at, marks.last?.at].compactMap { $0 }.max() }

        package init() { for kind in BlackBoxRing.Kind.allCases { rings[kind] = BlackBoxRing(kind) } }
    }

    /// Reads a file. A shorter one, which was cut, is read as far as it goes.
    package static func read(_ bytes: [UInt8]) throws(BlackBoxError) -> Content {
        let start = Array(name.utf8)
        guard bytes.starts(with: start) else { throw .foreign }
        let digits = bytes.dropFirst(start.count).prefix(4).prefix { (0x30...0x39).contains($0) }
        guard let version = Int(String(decoding: digits, as: UTF8.self)) else { throw .foreign }
        guard version == Int(BlackBoxRecord.version) else { throw .version(version) }
        var content = Content()
        bytes.withUnsafeBytes { bytes in
            content.sign = sign(in: bytes)
            for kind in BlackBoxRing.Kind.allCases { read(kind, of: bytes, into: &content) }
        }
        return content
    }

    /// Returns the records in the order in which they were written, without those that no later lap has replaced: a record
    /// that did not fit has left them at the end of the part. Such a beginning would outlive its end.
    ///
    /// - Parameters:
    ///   - found: The records in the order of their places.
    ///   - head: The place of the next record, where the oldest one begins.
    private static func current(_ found: [(offset: Int, record: BlackBoxRecord)], head: Int) -> [BlackBoxRecord] {
        let laps = found.filter { $0.offset >= head } + found.filter { $0.offset < head }
        return laps.reduce(into: []) { records, next in
            if next.record.sequence > records.last?.sequence ?? 0 { records.append(next.record) }
        }
    }

    private static func read(_ kind: BlackBoxRing.Kind, of bytes: UnsafeRawBufferPointer, into content: inout Content) {
        var found: [(offset: Int, record: BlackBoxRecord)] = []
        var offset = kind.part.lowerBound
        while offset < min(kind.part.upperBound, bytes.count) {
            let isMarked = BlackBoxRecord.isMarked(bytes, at: offset)
            if isMarked, let (record, count) = BlackBoxRecord.read(bytes, at: offset), record.kind.ring == kind,
                offset + count <= kind.part.upperBound
            {
                content.rings[kind]?.follow(record.sequence, end: offset + count)
                found.append((offset, record))
                offset += count
            } else {
                content.damaged += isMarked ? 1 : 0
                offset += BlackBoxRecord.slotBytes
            }
        }
        let records = current(found, head: content.rings[kind]?.offset ?? kind.part.lowerBound)
        switch kind {
        case .lines: content.lines = records
        case .marks: content.marks = records
        }
    }
}

/// The reason why a file cannot be read as a black box.
package enum BlackBoxError: Error, Sendable, Hashable {
    /// The file does not begin like a black box.
    case foreign
    /// Another version of the program wrote it.
    case version(Int)

    /// One sentence for a person.
    package var sentence: String {
        switch self {
        case .foreign: "The file is not a black box, or its beginning is damaged."
        case .version(let version):
            "The black box has version \(version), and this program reads \(BlackBoxRecord.version); use the agent's own program."
        }
    }
}
