import Foundation
import StarwatchCore

/// The zone files of this machine.
enum MachineZones {
    static let folder = "/usr/share/zoneinfo"

    /// Every zone, including links, without `localtime` and `posixrules`, which are copies.
    static let names: [String] = {
        let files = (try? FileManager.default.subpathsOfDirectory(atPath: folder)) ?? []
        return files.filter { name in
            !["posix/", "right/"].contains { name.hasPrefix($0) } && !["localtime", "posixrules"].contains(name)
                && bytes(name).starts(with: "TZif".utf8)
        }.sorted()
    }()

    /// One name of each content, because most links are copies.
    static let different: [String] = Dictionary(names.map { (bytes($0), $0) }) { first, _ in first }.values.sorted()

    static func bytes(_ name: String) -> [UInt8] {
        FileManager.default.contents(atPath: "\(folder)/\(name)").map { Array($0) } ?? []
    }

    static func table(_ name: String) throws -> ZoneTable { try ZoneTable(bytes(name), identifier: name) }
}
