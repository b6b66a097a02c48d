/// Decides when to announce waiting changes, like Alertmanager's `group_wait` and `group_interval`.
public enum GroupingDecision: Sendable, Hashable {
    /// Announce every waiting change now.
    case notify
    /// Announce nothing before this time.
    case wait(until: Timestamp)
    /// No change is waiting.
    case idle

    /// Decides for one stream.
    ///
    /// - Parameters:
    ///   - oldestWaiting: When the oldest waiting change was stored; `nil` if none is waiting. A time in the future
    ///     comes from a clock that was set back. The real wait is then unknown, so the change is due.
    ///   - lastNotified: The time of the stream's last notification; `nil` if there was none. A time in the future
    ///     counts as none.
    ///   - groupWait: The wait of the first change of a group for others.
    ///   - groupInterval: The shortest time between two notifications of the stream.
    public static func decide(
        now: Timestamp,
        oldestWaiting: Timestamp?,
        lastNotified: Timestamp?,
        groupWait: Duration,
        groupInterval: Duration
    ) -> GroupingDecision {
        guard let oldestWaiting else { return .idle }
        var due = oldestWaiting > now ? now : oldestWaiting + groupWait
        if let lastNotified, lastNotified <= now { due = max(due, lastNotified + groupInterval) }
        return due <= now ? .notify : .wait(until: due)
    }
}
