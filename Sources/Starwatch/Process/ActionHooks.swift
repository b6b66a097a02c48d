import Synchronization

/// The host's action handlers.
final class ActionHooks: Sendable {
    private let receiver = Mutex<(any NotificationActions)?>(nil)

    var current: (any NotificationActions)? { receiver.withLock { $0 } }

    func set(_ actions: (any NotificationActions)?) { receiver.withLock { $0 = actions } }
}

extension Agent {
    /// Sets the handler of user actions; `nil` removes it.
    public func tell(_ actions: (any NotificationActions)?) { actionHooks.set(actions) }
}
