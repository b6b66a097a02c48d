import Foundation
package import StarwatchCore

/// An IANA zone, with the rules of the toolchain's Foundation. It does not read the system's zone files.
package struct FoundationTimeZone: TimeZoneRules {
    private let zone: TimeZone

    /// `nil` if the zone is unknown.
    package init?(identifier: String) {
        guard let zone = TimeZone(identifier: identifier) else { return nil }
        self.zone = zone
    }

    package var identifier: String { zone.identifier }

    package func offsetSeconds(at time: Timestamp) -> Int {
        zone.secondsFromGMT(for: Date(timeIntervalSince1970: time.seconds))
    }
}
