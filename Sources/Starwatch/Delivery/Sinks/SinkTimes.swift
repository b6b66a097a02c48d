package import StarwatchCore
import StarwatchPolling

/// The hours of a sink in its time zone.
package struct SinkTimes: Sendable {
    let hours: SinkHours
    /// The present zone. The machine's can change.
    let zone: @Sendable () -> any TimeZoneRules

    package init(_ hours: SinkHours, zone: @escaping @Sendable () -> any TimeZoneRules) {
        (self.hours, self.zone) = (hours, zone)
    }

    /// The hours of a configured sink; `nil` without any. Its ``SinkFactory`` has checked the zone.
    package init?(_ sink: SinkOptions) {
        guard let hours = sink.hours, let zone = try? LocalZone.zone(named: sink.timezone) else { return nil }
        self.init(hours, zone: zone)
    }

    /// The moment at which what comes at `time` is delivered; `nil` if that is at once.
    func opens(after time: Timestamp) -> Timestamp? { hours.opens(after: time, in: zone()) }

    /// The moment at which a retry or a notice can be tried; `nil` if that is at once.
    func resumes(after time: Timestamp) -> Timestamp? { hours.resumes(after: time, in: zone()) }
}
