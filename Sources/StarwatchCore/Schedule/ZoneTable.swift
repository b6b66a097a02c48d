/// A time zone from a file of the zone database (TZif, RFC 9636).
public struct ZoneTable: TimeZoneRules {
    public package(set) var identifier: String
    /// The times of the changes in seconds, in order, and the offset from each on.
    let changes: [Change]
    /// The offset before the first change.
    let first: Int
    /// The rule from the last change on; `nil` if the file has none, and the last offset stays.
    let rule: ZoneRule?

    struct Change: Sendable, Hashable {
        let second: Int64
        let offset: Int
    }

    /// Reads the content of a zone file.
    ///
    /// Of a version with 64-bit times, it reads the second block. The times of a file that counts leap seconds, as those in
    /// `right/`, become Unix times.
    ///
    /// - Throws: ``ZoneTableError`` for any other content.
    public init(_ bytes: [UInt8], identifier: String) throws(ZoneTableError) {
        var block = try TZifBlock(bytes, at: 0, size: 4)
        var rule: ZoneRule?
        if block.version != 0 {
            block = try TZifBlock(bytes, at: block.end, size: 8)
            rule = try block.footer()
        }
        self.identifier = identifier
        self.rule = rule
        let offsets = try block.offsets()
        first = offsets[0]
        changes = try block.changes(to: offsets)
    }

    /// Whether the zone is always UTC.
    public var isUTC: Bool {
        first == 0 && changes.allSatisfy { $0.offset == 0 } && rule?.isUTC != false
    }

    /// Whether both zones have the same offset at all times, as a copy has.
    public func hasRules(of other: ZoneTable) -> Bool {
        first == other.first && changes == other.changes && rule == other.rule
    }

    public func offsetSeconds(at time: Timestamp) -> Int {
        let second = time.wholeSeconds
        if let rule, changes.last.map({ $0.second <= second }) != false { return rule.offset(at: second) }
        var (low, high) = (0, changes.count)
        while low < high {
            let middle = (low + high) / 2
            if changes[middle].second <= second { low = middle + 1 } else { high = middle }
        }
        return low == 0 ? first : changes[low - 1].offset
    }
}

/// The reason why a file is not used as a zone file.
public enum ZoneTableError: Error, Sendable, Hashable, CustomStringConvertible {
    /// It has another format.
    case format
    /// It ends early, or contradicts itself.
    case damaged

    /// The end of a sentence that begins with the file's path.
    public var description: String {
        switch self {
        case .format: "is not a time zone file"
        case .damaged: "is a damaged time zone file"
        }
    }
}

/// A header of a zone file, with the data that follows it.
private struct TZifBlock {
    /// Zones of the database are at most 16 hours from UTC.
    private static let allowed = -18 * 3600...18 * 3600
    /// The earliest time that the database's compiler writes is −2⁵⁹.
    private static let times = -(1 << 60)...(1 << 60) as ClosedRange<Int64>

    let bytes: [UInt8]
    let version: UInt8
    /// The length of a time: 4 or 8 bytes.
    let size: Int
    let start: Int
    let leapCount: Int
    let timeCount: Int
    let typeCount: Int
    let letterCount: Int
    let end: Int

    init(_ bytes: [UInt8], at header: Int, size: Int) throws(ZoneTableError) {
        guard bytes.dropFirst(header).starts(with: "TZif".utf8) else { throw header == 0 ? .format : .damaged }
        start = header + 44
        guard bytes.count >= start else { throw .damaged }
        let counts = (0..<6).map { index in
            bytes[(header + 20 + index * 4)...].prefix(4).reduce(0) { $0 << 8 | Int($1) }
        }
        (self.bytes, self.size, version) = (bytes, size, bytes[header + 4])
        (leapCount, timeCount, typeCount, letterCount) = (counts[2], counts[3], counts[4], counts[5])
        end =
            start + timeCount * (size + 1) + typeCount * 6 + letterCount + leapCount * (size + 4) + counts[1]
            + counts[0]
        guard end <= bytes.count else { throw .damaged }
    }

    private func number(at index: Int, size: Int) -> Int64 {
        let bits = bytes[index..<index + size].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        return size == 4 ? Int64(Int32(truncatingIfNeeded: bits)) : Int64(bitPattern: bits)
    }

    /// The offset of each type.
    func offsets() throws(ZoneTableError) -> [Int] {
        let types = start + timeCount * (size + 1)
        let offsets = (0..<typeCount).map { Int(number(at: types + $0 * 6, size: 4)) }
        guard !offsets.isEmpty, offsets.allSatisfy(Self.allowed.contains) else { throw .damaged }
        return offsets
    }

    func changes(to offsets: [Int]) throws(ZoneTableError) -> [ZoneTable.Change] {
        let leaps = leaps()
        var changes: [ZoneTable.Change] = []
        changes.reserveCapacity(timeCount)
        var leap = 0
        for index in 0..<timeCount {
            let time = number(at: start + index * size, size: size)
            let type = Int(bytes[start + timeCount * size + index])
            guard Self.times.contains(time), type < offsets.count else { throw .damaged }
            while leap < leaps.count, leaps[leap].time <= time { leap += 1 }
            let second = time - (leap == 0 ? 0 : leaps[leap - 1].count)
            if let last = changes.last, last.second > second { throw .damaged }
            changes.append(ZoneTable.Change(second: second, offset: offsets[type]))
        }
        return changes
    }

    /// The times at which a leap second is counted, and the number of them so far.
    private func leaps() -> [(time: Int64, count: Int64)] {
        let start = start + timeCount * (size + 1) + typeCount * 6 + letterCount
        return (0..<leapCount).map { index in
            let record = start + index * (size + 4)
            return (number(at: record, size: size), number(at: record + size, size: 4))
        }
    }

    /// The rule after the data, between two line feeds; `nil` if there is nothing between them.
    func footer() throws(ZoneTableError) -> ZoneRule? {
        let feed = UInt8(ascii: "\n")
        guard end < bytes.count, bytes[end] == feed, let last = bytes[(end + 1)...].firstIndex(of: feed) else {
            throw .damaged
        }
        let text = bytes[(end + 1)..<last]
        if text.isEmpty { return nil }
        guard let rule = ZoneRule(String(decoding: text, as: UTF8.self)) else { throw .damaged }
        return rule
    }
}
