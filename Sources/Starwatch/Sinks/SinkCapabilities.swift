/// What a sink can do with a notification beside showing its text (R-NOT-05).
package struct SinkCapabilities: OptionSet, Sendable, Hashable {
    package let rawValue: Int

    package init(rawValue: Int) { self.rawValue = rawValue }

    /// Buttons for the actions.
    package static let actions = SinkCapabilities(rawValue: 1)
    /// A tap leads to the link.
    package static let deepLink = SinkCapabilities(rawValue: 2)
    /// A notification takes the place of the last one under its collapse key.
    package static let replace = SinkCapabilities(rawValue: 4)
    /// One that is taken back disappears.
    package static let clear = SinkCapabilities(rawValue: 8)
    package static let priority = SinkCapabilities(rawValue: 16)
    package static let sound = SinkCapabilities(rawValue: 32)

    /// Receivers of the whole JSON: what they make of it is theirs.
    package static let everything: SinkCapabilities = [.actions, .deepLink, .replace, .clear, .priority, .sound]
}

extension NotificationSink {
    package var capabilities: SinkCapabilities { [] }
}
