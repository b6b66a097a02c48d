public import Starwatch
public import StarwatchCore

/// A sink that counts the changes of each plan.
public actor Tally: HostSink {
    public nonisolated let name = "tally"
    /// The number of changes by plan.
    public private(set) var changes: [String: Int] = [:]
    private var known: Set<String> = []

    public init() {}

    public func deliver(_ notification: NotificationMessage) async throws {
        // The same notification can come again after a failure.
        guard known.insert(notification.id).inserted else { return }
        for change in notification.changes { changes[change.plan, default: 0] += 1 }
    }
}
