package import StarwatchCore

/// A notification with its deliveries and actions.
package struct StoredNotification: Sendable, Hashable, Identifiable {
    package enum State: String, Sendable, CaseIterable, SQLReadable {
        case open, delivered, dead, cancelled, released
    }

    /// The position in the list.
    package let row: Int64
    /// `ntf_…`.
    package let id: String
    package let poll: PollName
    package let state: State
    package let group: NotificationGroup
    package let count: Int
    /// ``Unreadable/text`` if it does not open, as is the body.
    package let title: String
    package let body: String
    /// Empty if it does not open.
    package let payload: [UInt8]
    package let createdAt: Timestamp
    /// Id of the original notification if this one repeats it; `nil` otherwise.
    package let repeats: String?
    package let actions: [ActionRecord]
    package let deliveries: [SinkStatus]
}

/// A person's action on a notification.
package struct ActionRecord: Sendable, Hashable {
    package let action: NotificationAction
    package let doneAt: Timestamp
    /// The id of the notification that a snooze created.
    package let repetition: String?
}

package enum ActionResult: Sendable, Hashable {
    case done(ActionRecord)
    /// The action was already recorded, so nothing changed.
    case already(ActionRecord)
    /// The account has no such notification, or is not active.
    case unknown
    case notOffered
    /// There is no sink to deliver the snoozed notification to.
    case noSinks
}

extension StoredNotification {
    /// The id of a notification's repetition, in the same form and deterministic.
    ///
    /// Ids are random numbers of 128 bits, so the following number is practically free.
    static func idOfRepetition(of first: String) -> String {
        let digits = Array(first.utf8.suffix(32))
        guard digits.count == 32, let high = UInt64(String(decoding: digits[..<16], as: UTF8.self), radix: 16),
            let low = UInt64(String(decoding: digits[16...], as: UTF8.self), radix: 16)
        else { return "\(first)_1" }
        let (sum, carries) = low.addingReportingOverflow(1)
        return String(first.dropLast(32)) + String(carries ? high &+ 1 : high, width: 16, radix: 16)
            + String(sum, width: 16, radix: 16)
    }
}
