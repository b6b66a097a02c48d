import Foundation
import Glibc
package import StarwatchCore
import Synchronization

/// The files of the machine's time zone database.
package struct ZoneDatabase: Sendable {
    /// The folders to search, in order.
    let folders: [String]

    package init(folders: [String]) { self.folders = folders }

    /// The folder that `TZDIR` names, as for the C library; otherwise that of most systems and that of NixOS.
    package static let ofMachine = ZoneDatabase(
        folders: ProcessInfo.processInfo.environment["TZDIR"].flatMap { $0.isEmpty ? nil : [$0] }
            ?? ["/usr/share/zoneinfo", "/etc/zoneinfo"]
    )

    /// Whether the zone of that name is UTC, which needs no file.
    package static func isUTC(_ name: String) -> Bool { ["UTC", "Etc/UTC"].contains(name) }

    /// Returns the zone of that name.
    package func zone(_ name: String) throws(ZoneError) -> any TimeZoneRules {
        try Self.isUTC(name) ? FixedZone.utc : NamedZone(name, in: self)
    }

    /// The file of a zone; `nil` if there is none.
    package func file(of name: String) -> ZoneFile? { ZoneFile.first(of: paths(of: name)) }

    /// The places where the file of a zone can be; none if the name is not one of a zone.
    fileprivate func paths(of name: String) -> [String] {
        let parts = name.split(separator: "/", omittingEmptySubsequences: false)
        let isName = parts.allSatisfy { part in
            !part.isEmpty && !part.hasPrefix(".")
                && part.utf8.allSatisfy {
                    switch $0 {
                    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
                    default: "0123456789+-_.".utf8.contains($0)
                    }
                }
        }
        return isName && name.utf8.count <= 255 ? folders.map { "\($0)/\(name)" } : []
    }

    /// The first folder with files; `nil` without one.
    private var folder: String? {
        folders.first { (try? FileManager.default.contentsOfDirectory(atPath: $0).isEmpty) == false }
    }

    /// The origin and the version of the rules.
    package var data: ZoneData {
        guard let folder else { return .bundled }
        let places = [("tzdata.zi", "# version "), ("+VERSION", "")]
        let version = places.lazy.compactMap { Self.version(in: "\(folder)/\($0)", after: $1) }.first
        return ZoneData(source: .machine, version: version ?? ZoneData.unknown, folder: folder)
    }

    private static func version(in path: String, after prefix: String) -> String? {
        guard ZoneFile(path) != nil, let file = FileHandle(forReadingAtPath: path),
            let start = try? file.read(upToCount: 64)
        else { return nil }
        let line = String(decoding: start, as: UTF8.self).prefix { !$0.isNewline }
        guard line.hasPrefix(prefix) else { return nil }
        return ZoneData.version(line.dropFirst(prefix.count))
    }
}

/// The origin and the version of the rules of time zones.
package struct ZoneData: Sendable, Hashable {
    package enum Source: String, Sendable, CaseIterable {
        /// The files of the machine.
        case machine
        /// The data of Foundation, which is in the program.
        case bundled
    }

    package let source: Source
    /// Such as `2026a`, or `unknown`.
    package let version: String
    /// The folder of the files; `nil` without files.
    package let folder: String?

    static let unknown = "unknown"

    /// The data of Foundation, which is ICU's.
    package static let bundled = ZoneData(
        source: .bundled,
        version: version(TimeZone.timeZoneDataVersion[...]) ?? unknown,
        folder: nil
    )

    /// `text` if it can be a version, because it becomes a label.
    static func version(_ text: Substring) -> String? {
        let isVersion = text.utf8.allSatisfy { $0 > 32 && $0 < 127 && !"\"\\".utf8.contains($0) }
        return isVersion && (1...32).contains(text.utf8.count) ? String(text) : nil
    }
}

/// A file as it is now.
package struct ZoneFile: Sendable, Hashable {
    /// The largest zone file of the database has 4 kB.
    private static let largest = 1 << 20

    let path: String
    private let device: UInt64
    private let number: UInt64
    private let size: Int64
    private let changed: Int64

    /// `nil` if there is no such file.
    init?(_ path: String) {
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        self.path = path
        (device, number, size) = (UInt64(status.st_dev), UInt64(status.st_ino), Int64(status.st_size))
        changed = Int64(status.st_ctim.tv_sec) &* 1_000_000_000 &+ Int64(status.st_ctim.tv_nsec)
    }

    static func first(of paths: [String]) -> ZoneFile? { paths.lazy.compactMap { ZoneFile($0) }.first }

    func table(as identifier: String) throws(ZoneError) -> ZoneTable {
        guard size <= Self.largest else { throw .file(path, ZoneTableError.format.description) }
        guard let data = FileManager.default.contents(atPath: path) else { throw .file(path, "cannot be opened") }
        do throws(ZoneTableError) { return try ZoneTable(Array(data), identifier: identifier) } catch {
            throw .file(path, error.description)
        }
    }
}

/// The reason why a time zone cannot be used.
package enum ZoneError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The database has no zone of that name.
    case unknown
    /// A file that is no zone, and what is wrong with it.
    case file(String, String)
    /// Value of `TZ` that is neither a zone nor a rule.
    case variable(String)

    /// The end of a sentence that begins with the setting.
    package var description: String {
        switch self {
        case .unknown: "is not a known IANA zone, such as Europe/Zurich."
        case .file(let path, let problem):
            "cannot be read, because \(path) \(problem); install the machine's tzdata again, or name another file."
        case .variable(let text):
            "cannot be read, because TZ is \"\(text.prefix(80))\"; set it to a zone such as Europe/Zurich, or unset it."
        }
    }
}

/// A zone of the IANA database, with the rules of the machine's file. Without a file it has those of Foundation.
///
/// A file that changes is read again. If it then cannot be read, the former rules stay.
package final class NamedZone: TimeZoneRules {
    package let identifier: String
    private let paths: [String]
    private let held: Mutex<(file: ZoneFile?, rules: any TimeZoneRules)>

    package init(_ name: String, in database: ZoneDatabase = .ofMachine) throws(ZoneError) {
        (identifier, paths) = (name, database.paths(of: name))
        if let file = ZoneFile.first(of: paths) {
            held = Mutex((file, try file.table(as: name)))
        } else if let zone = TimeZone(identifier: name) {
            held = Mutex((nil, BundledZone(identifier: name, zone: zone)))
        } else {
            throw .unknown
        }
    }

    /// Whether the rules are those of Foundation.
    package var isBundled: Bool { current is BundledZone }

    package var current: any TimeZoneRules {
        let file = ZoneFile.first(of: paths)
        return held.withLock { held in
            guard let file, file != held.file else { return held.rules }
            held.file = file
            if let table = try? file.table(as: identifier) { held.rules = table }
            return held.rules
        }
    }

    package func offsetSeconds(at time: Timestamp) -> Int { current.offsetSeconds(at: time) }
}

/// A zone with the rules of Foundation, which does not read the machine's files.
private struct BundledZone: TimeZoneRules {
    let identifier: String
    let zone: TimeZone

    func offsetSeconds(at time: Timestamp) -> Int {
        zone.secondsFromGMT(for: Date(timeIntervalSince1970: time.seconds))
    }
}
