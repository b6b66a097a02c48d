import Foundation
import StarwatchCore

/// A zone read from its file in the system's database (RFC 8536), independent of Foundation and the product.
struct ZoneFile: TimeZoneRules {
    static let folder = "/usr/share/zoneinfo"

    let identifier: String
    /// The offset before the first change.
    let first: Int
    /// The times in seconds and the new offsets, in order.
    let changes: [(at: Int64, offset: Int)]

    struct Damaged: Error {
        let name: String
    }

    init(_ name: String) throws {
        guard let data = FileManager.default.contents(atPath: "\(Self.folder)/\(name)"), data.count > 44,
            data.prefix(4).elementsEqual("TZif".utf8), data[4] >= UInt8(ascii: "2")
        else { throw Damaged(name: name) }
        let bytes = Array(data)
        func number(_ at: Int, _ size: Int) -> Int64 {
            let unsigned = bytes[at..<at + size].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            return size == 4 ? Int64(Int32(truncatingIfNeeded: unsigned)) : Int64(bitPattern: unsigned)
        }
        func count(_ header: Int, _ field: Int) -> Int { Int(number(header + 20 + field * 4, 4)) }
        // The first block has 32-bit times. The second block, which counts, follows it.
        let (leap, times, types, letters) = (count(0, 2), count(0, 3), count(0, 4), count(0, 5))
        let second = 44 + times * 5 + types * 6 + letters + leap * 8 + count(0, 1) + count(0, 0)
        let (number64, start) = (count(second, 3), second + 44)
        let kinds = start + number64 * 8
        func offset(_ kind: Int) -> Int { Int(number(kinds + number64 + kind * 6, 4)) }
        identifier = name
        first = offset(0)
        changes = (0..<number64).map { (number(start + $0 * 8, 8), offset(Int(bytes[kinds + $0]))) }
    }

    /// Every zone of the database, including links, without `localtime` and `posixrules`, which are copies.
    static let names: [String] = {
        let files = (try? FileManager.default.subpathsOfDirectory(atPath: folder)) ?? []
        return files.filter { name in
            !["posix/", "right/"].contains { name.hasPrefix($0) } && !["localtime", "posixrules"].contains(name)
                && FileManager.default.contents(atPath: "\(folder)/\(name)")?.prefix(4).elementsEqual("TZif".utf8)
                    == true
        }.sorted()
    }()

    func offsetSeconds(at time: Timestamp) -> Int {
        let second = time.milliseconds >= 0 ? time.milliseconds / 1000 : (time.milliseconds - 999) / 1000
        var (low, high) = (0, changes.count)
        while low < high {
            let middle = (low + high) / 2
            if changes[middle].at <= second { low = middle + 1 } else { high = middle }
        }
        return low == 0 ? first : changes[low - 1].offset
    }
}
