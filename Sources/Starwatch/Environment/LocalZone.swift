import Foundation
package import StarwatchCore

/// The zone of this machine, read again at every question: it may be another one since.
package struct LocalZone: Sendable {
    private let variable: String?
    private let link: String
    private let file: String

    /// - Parameters:
    ///   - variable: `$TZ`.
    ///   - link: The symbolic link whose target names the zone.
    ///   - file: A file that names it, where the link is none.
    package init(
        variable: String? = ProcessInfo.processInfo.environment["TZ"],
        link: String = "/etc/localtime",
        file: String = "/etc/timezone"
    ) {
        self.variable = variable
        self.link = link
        self.file = file
    }

    /// The zone now; UTC when nothing names one that is known.
    package var current: any TimeZoneRules {
        for name in [variable.map { $0.hasPrefix(":") ? String($0.dropFirst()) : $0 }, linked, written] {
            // Foundation calls it GMT.
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
