/// The times at which a sink gets notifications of changes. In between they are held. Quiet hours hold notices too.
public enum SinkHours: Sendable, Hashable {
    /// At any time outside these hours.
    case quiet(QuietHours)
    /// At these times of the day only.
    case deliverAt([DayTime])

    /// The moment at which what comes at `time` is delivered; `nil` if that is at once.
    ///
    /// A time of the day that the zone skips is right after the gap; a repeated one counts the first time.
    public func opens(after time: Timestamp, in zone: any TimeZoneRules) -> Timestamp? {
        switch self {
        case .quiet(let hours): hours.end(at: time, in: zone)
        case .deliverAt(let times): times.compactMap { $0.next(after: time, in: zone) }.min()
        }
    }

    /// The moment at which a retry or a notice can be tried; `nil` if that is at once. Times of the day hold back neither,
    /// because the next one can be a day away.
    public func resumes(after time: Timestamp, in zone: any TimeZoneRules) -> Timestamp? {
        switch self {
        case .quiet: opens(after: time, in: zone)
        case .deliverAt: nil
        }
    }
}

/// The hours of every day in which a sink gets no notifications, over midnight if they end earlier than they begin.
public struct QuietHours: Sendable, Hashable, CustomStringConvertible {
    public let begin: DayTime
    public let end: DayTime

    /// `nil` unless `text` is `HH:MM-HH:MM`, of two different times.
    public init?(_ text: String) {
        let times = text.split(separator: "-", omittingEmptySubsequences: false).map { DayTime(String($0)) }
        guard times.count == 2, let begin = times[0], let end = times[1], begin != end else { return nil }
        (self.begin, self.end) = (begin, end)
    }

    public var description: String { "\(begin)-\(end)" }

    /// The end of the quiet hours that `time` is in; `nil` outside them.
    func end(at time: Timestamp, in zone: any TimeZoneRules) -> Timestamp? {
        guard let nextEnd = end.next(after: time, in: zone), let nextBegin = begin.next(after: time, in: zone)
        else { return nil }
        // A gap that skips both puts them on one moment. Before it, hours over midnight last already.
        return nextEnd < nextBegin || nextEnd == nextBegin && end < begin ? nextEnd : nil
    }
}

extension DayTime {
    /// The next time of the day after `time`.
    func next(after time: Timestamp, in zone: any TimeZoneRules) -> Timestamp? {
        schedule(in: zone)?.next(after: time)
    }
}
