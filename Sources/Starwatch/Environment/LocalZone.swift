import Foundation
package import StarwatchCore

/// The time zone of this machine, read again on every access because it can change.
package struct LocalZone: Sendable {
    /// Value of `$TZ`.
    var variable = ProcessInfo.processInfo.environment["TZ"]
    /// The symbolic link whose target names the zone.
    var link = "/etc/localtime"
    /// A file that contains the zone's name, used if the link names none.
    var file = "/etc/timezone"

    package init() {}

    /// The current zone; UTC if no known zone is configured.
    package var current: any TimeZoneRules {
        for name in [variable.map { $0.hasPrefix(":") ? String($0.dropFirst()) : $0 }, linked, written] {
            // Foundation calls this zone GMT.
            if let name, ["UTC", "Etc/UTC"].contains(name) { return FixedZone.utc }
            if let name, !name.isEmpty, let zone = FoundationTimeZone(identifier: name) { return zone }
        }
        return FixedZone.utc
    }

    /// The zone of a setting: the one of that name, and without a name the machine's, whenever it changes. `nil` for an
    /// unknown name.
    static func zone(named name: String?) -> (@Sendable () -> any TimeZoneRules)? {
        guard let name else {
            let local = LocalZone()
            return { local.current }
        }
        guard let known = FoundationTimeZone(identifier: name) else { return nil }
        return { known }
    }

    private var linked: String? {
        guard let target = try? FileManager.default.destinationOfSymbolicLink(atPath: link),
            let folder = target.range(of: "zoneinfo/")
        else { return nil }
        return String(target[folder.upperBound...])
    }

    private var written: String? {
        guard let data = FileManager.default.contents(atPath: file), data.count < 256 else { return nil }
        return String(decoding: data, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
    }
}
