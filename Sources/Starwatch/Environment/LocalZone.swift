import Foundation
package import StarwatchCore

/// The time zone of this machine, read again on every access because it can change.
package struct LocalZone: Sendable {
    private let variable: String?
    private let link: String
    private let file: String

    /// - Parameters:
    ///   - variable: Value of `$TZ`.
    ///   - link: The symbolic link whose target names the zone.
    ///   - file: A file that contains the zone's name, used if the link names none.
    package init(
        variable: String? = ProcessInfo.processInfo.environment["TZ"],
        link: String = "/etc/localtime",
        file: String = "/etc/timezone"
    ) {
        self.variable = variable
        self.link = link
        self.file = file
    }

    /// The current zone; UTC if no known zone is configured.
    package var current: any TimeZoneRules {
        for name in [variable.map { $0.hasPrefix(":") ? String($0.dropFirst()) : $0 }, linked, written] {
            // Foundation calls this zone GMT.
            if let name, ["UTC", "Etc/UTC"].contains(name) { return FixedZone.utc }
            if let name, !name.isEmpty, let zone = FoundationTimeZone(identifier: name) { return zone }
        }
        return FixedZone.utc
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
