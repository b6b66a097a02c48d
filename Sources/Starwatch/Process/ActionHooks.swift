import Synchronization

/// Whom the host told the agent to tell of actions.
final class ActionHooks: Sendable {
    private let receiver = Mutex<(any NotificationActions)?>(nil)

    var current: (any NotificationActions)? { receiver.withLock { $0 } }

    func set(_ actions: (any NotificationActions)?) { receiver.withLock { $0 = actions } }
}

extension Agent {
    /// Tells `actions` of what a person does with notifications from now on; `nil`: nobody.
    public func tell(_ actions: (any NotificationActions)?) { actionHooks.set(actions) }
}
