import Foundation
package import StarwatchCore

/// An IANA zone from the system's time zone database.
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
