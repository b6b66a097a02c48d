import Foundation
package import StarwatchCore

/// An IANA zone, with the rules that the toolchain's Foundation brings along; the system's zone files are not read.
package struct FoundationTimeZone: TimeZoneRules {
    private let zone: TimeZone

    /// `nil` when the system does not know the zone.
    package init?(identifier: String) {
        guard let zone = TimeZone(identifier: identifier) else { return nil }
        self.zone = zone
    }

    package var identifier: String { zone.identifier }

    package func offsetSeconds(at time: Timestamp) -> Int {
        zone.secondsFromGMT(for: Date(timeIntervalSince1970: time.seconds))
    }
}
