/// When the changes that wait may be announced, after Alertmanager's `group_wait` and `group_interval`.
public enum GroupingDecision: Sendable, Hashable {
    /// Announce everything that waits, now.
    case notify
    /// Nothing may be announced before this time.
    case wait(until: Timestamp)
    /// Nothing waits.
    case idle

    /// Decides for one stream.
    ///
    /// - Parameters:
    ///   - oldestWaiting: When the oldest waiting change was stored; `nil` when none waits. A time in the future, left
    ///     by a clock that was set back, says nothing: nobody knows how long the change has waited, so it is due.
    ///   - lastNotified: When the stream was last announced; `nil` when never. A time in the future counts as never.
    ///   - groupWait: How long the first change of a group waits for others.
    ///   - groupInterval: The least time between two notifications of the stream.
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
