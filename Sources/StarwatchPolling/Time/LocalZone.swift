import Foundation
package import StarwatchCore
import Synchronization

/// The time zone of a machine, found again on every access because it can change.
///
/// As in the C library, `TZ` goes first, then `/etc/localtime`, which is read itself. A machine without either has the zone that
/// `/etc/timezone` names, or else UTC.
package final class LocalZone: Sendable {
    /// The place that names the zone.
    package enum Origin: Sendable, Hashable {
        case variable
        case file(String)
        /// The machine names none, so the zone is UTC.
        case none
    }

    /// Value of `$TZ`.
    private let variable: String?
    /// The zone file, or a symbolic link to one, whose target names the zone.
    private let link: String
    /// A file that contains the zone's name.
    private let file: String
    private let database: ZoneDatabase
    private let held = Mutex(Held())

    private struct Held {
        /// The last zone that could be read.
        var zone: (any TimeZoneRules)?
        var named: NamedZone?
        /// The file of ``table``, and where its link led.
        var file: ZoneFile?
        var target: String?
        var table: ZoneTable?
    }

    package init(variable: String?, link: String, file: String, database: ZoneDatabase) {
        (self.variable, self.link, self.file, self.database) = (variable, link, file, database)
    }

    /// The zone of this machine. One for all, because a look into the environment takes 360,000 instructions, which each visit of an
    /// account did (callgrind, `Benchmarks/poll visits`). So `TZ` is read once, and the files at each access.
    package static let ofMachine = LocalZone(
        variable: ProcessInfo.processInfo.environment["TZ"],
        link: "/etc/localtime",
        file: "/etc/timezone",
        database: .ofMachine
    )

    /// The current zone. If it can no longer be read, the last one that could; UTC if none could.
    package var current: any TimeZoneRules { (try? find().zone) ?? held.withLock { $0.zone } ?? FixedZone.utc }

    /// Finds the current zone, and what names it.
    ///
    /// - Throws: ``ZoneError`` if something names a zone that cannot be read.
    package func find() throws(ZoneError) -> (zone: any TimeZoneRules, origin: Origin) {
        let found = try look()
        held.withLock { $0.zone = found.zone }
        return found
    }

    private func look() throws(ZoneError) -> (zone: any TimeZoneRules, origin: Origin) {
        if let variable { return (try zone(of: variable), .variable) }
        if Self.exists(link) { return (try zone(in: link), .file(link)) }
        guard let written else { return (FixedZone.utc, .none) }
        do throws(ZoneError) { return (try named(written), .file(file)) } catch {
            throw error == .unknown ? .file(file, "names no known zone") : error
        }
    }

    /// Returns the zone of a setting: the one of that name, and without a name the machine's, whenever it changes.
    ///
    /// - Throws: ``ZoneSettingError`` if it cannot be read.
    package static func zone(named name: String?) throws(ZoneSettingError) -> @Sendable () -> any TimeZoneRules {
        do throws(ZoneError) {
            guard let name else {
                _ = try LocalZone.ofMachine.find()
                return { LocalZone.ofMachine.current }
            }
            let known = try ZoneDatabase.ofMachine.zone(name)
            return { known.current }
        } catch {
            throw ZoneSettingError(isLocal: name == nil, error: error)
        }
    }

    /// The zone of `TZ`: a name or path, with or without a colon, or a rule of POSIX. An empty value is UTC.
    private func zone(of variable: String) throws(ZoneError) -> any TimeZoneRules {
        let text = variable.hasPrefix(":") ? String(variable.dropFirst()) : variable
        if text.isEmpty { return FixedZone.utc }
        if text.hasPrefix("/") { return try zone(in: text) }
        let name = Self.withoutVariant(text)
        if database.file(of: name) == nil, let rule = ZoneRule(text) { return rule }
        do throws(ZoneError) { return try named(name) } catch { throw error == .unknown ? .variable(variable) : error }
    }

    private func named(_ name: String) throws(ZoneError) -> any TimeZoneRules {
        if let known = held.withLock({ $0.named }), known.identifier == name { return known.current }
        guard let zone = try database.zone(name) as? NamedZone else { return FixedZone.utc }
        held.withLock { $0.named = zone }
        return zone.current
    }

    /// The zone in the file at `path`.
    private func zone(in path: String) throws(ZoneError) -> any TimeZoneRules {
        let target = try? FileManager.default.destinationOfSymbolicLink(atPath: path)
        let name = [target, path].lazy.compactMap { $0.flatMap(Self.name) }.first
        // Files that count leap seconds end with the known ones, and Unix time counts none.
        let countsLeaps = [target, path].contains { $0?.contains("zoneinfo/right/") == true }
        if countsLeaps, let name, database.file(of: name) != nil { return try named(name) }
        guard let file = ZoneFile(path) else {
            // A link whose target is not there still names the zone.
            if let name, let zone = try? named(name) { return zone }
            throw .file(path, target == nil ? "is not a file" : "leads to no file")
        }
        let known = held.withLock { $0.file == file && $0.target == target ? $0.table : nil }
        if let known { return known }
        var table = try file.table(as: path)
        if let identifier = identifier(of: table, name) { table.identifier = identifier }
        held.withLock { [table] held in (held.file, held.target, held.table) = (file, target, table) }
        return table
    }

    /// The name of the zone in a file; `nil` if nothing names it.
    private func identifier(of table: ZoneTable, _ name: String?) -> String? {
        let isCalledUTC = name.map(ZoneDatabase.isUTC)
        if table.isUTC, isCalledUTC != false { return FixedZone.utc.identifier }
        // A file that is mounted over `/etc/localtime` lies where that link led, which is UTC in most containers.
        if let name, isCalledUTC == false { return name }
        guard let written, let file = database.file(of: written), let zone = try? file.table(as: written) else {
            return nil
        }
        return zone.hasRules(of: table) ? written : nil
    }

    /// The name of the zone that a path of the database leads to.
    private static func name(_ path: String) -> String? {
        path.range(of: "zoneinfo/").map { withoutVariant(String(path[$0.upperBound...])) }
    }

    /// The database has the same zones again in these folders; those in `right/` count leap seconds.
    private static func withoutVariant(_ name: String) -> String {
        let folder = ["posix/", "right/"].first { name.hasPrefix($0) }
        return String(name.dropFirst(folder?.count ?? 0))
    }

    private static func exists(_ path: String) -> Bool {
        (try? FileManager.default.attributesOfItem(atPath: path)) != nil
    }

    private var written: String? {
        guard let data = FileManager.default.contents(atPath: file), data.count < 256 else { return nil }
        let name = String(decoding: data, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
        return name.isEmpty ? nil : name
    }
}

/// The reason why the zone of a setting cannot be used.
package struct ZoneSettingError: Error, Sendable, Hashable, CustomStringConvertible {
    /// Whether the setting leaves the zone to the machine.
    let isLocal: Bool
    let error: ZoneError

    /// The end of a sentence that begins with the setting.
    package var description: String {
        isLocal ? "is not set, and this machine's time zone \(error)" : error.description
    }
}
