package import StarwatchCore

/// When a poll runs.
public enum PollTiming: Sendable, Hashable {
    /// A cron expression of five fields, in an IANA time zone.
    case cron(String, timezone: String)
    /// An interval, at least 1 s. The first run is at the start.
    case every(Duration)
}

/// Why a timing cannot be used.
package enum PollTimingError: Error, Sendable, Hashable, CustomStringConvertible {
    case unknownZone
    case cron(CronError)

    package var description: String {
        switch self {
        case .unknownZone: "the timezone is not a known IANA zone, such as Europe/Zurich."
        case .cron(let error): "\(error)"
        }
    }
}

extension Schedule {
    /// - Throws: ``PollTimingError`` when the zone or the cron expression is not known.
    package init(_ timing: PollTiming) throws(PollTimingError) {
        switch timing {
        case .every(let interval): self = .every(interval)
        case .cron(let text, let timezone):
            guard let zone = FoundationTimeZone(identifier: timezone) else { throw .unknownZone }
            do { self = .cron(try CronExpression(text), zone: zone) } catch { throw .cron(error) }
        }
    }
}
