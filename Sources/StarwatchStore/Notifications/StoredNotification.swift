package import StarwatchCore

/// A notification with all that became of it.
package struct StoredNotification: Sendable, Hashable, Identifiable {
    package enum State: String, Sendable, CaseIterable {
        case open, delivered, dead, cancelled, released
    }

    /// What the list goes by.
    package let row: Int64
    /// `ntf_…`.
    package let id: String
    package let poll: PollName
    package let state: State
    package let group: NotificationGroup
    package let count: Int
    package let title: String
    package let body: String
    package let payload: [UInt8]
    package let createdAt: Timestamp
    package let finishedAt: Timestamp?
    /// The first notification of what this one repeats; `nil` for a first one.
    package let repeats: String?
    package let actions: [ActionRecord]
    package let deliveries: [SinkStatus]
}

/// Something a person did with a notification.
package struct ActionRecord: Sendable, Hashable {
    package let action: NotificationAction
    package let doneAt: Timestamp
    /// The notification that a snooze made.
    package let repetition: String?
}

/// What came of an action.
package enum ActionResult: Sendable, Hashable {
    case done(ActionRecord)
    /// It had been done before; nothing has changed.
    case already(ActionRecord)
    /// The active identity has no such notification.
    case unknown
    case notOffered
    /// A snooze without a sink to deliver to.
    case noSinks
}

/// The ids of repetitions.
package enum RepetitionID {
    /// The id of the `number`-th repetition of a notification: of the same form, and the same whenever it is asked for.
    ///
    /// Ids are random in 128 bits; the ones next to one are as good as free.
    package static func make(of first: String, number: Int) -> String {
        let digits = Array(first.utf8.suffix(32))
        guard digits.count == 32, let high = UInt64(String(decoding: digits[..<16], as: UTF8.self), radix: 16),
            let low = UInt64(String(decoding: digits[16...], as: UTF8.self), radix: 16)
        else { return "\(first)_\(number)" }
        let (sum, carries) = low.addingReportingOverflow(UInt64(number))
        func hex(_ word: UInt64) -> String {
            let text = String(word, radix: 16)
            return String(repeating: "0", count: 16 - text.utf8.count) + text
        }
        return String(first.dropLast(32)) + hex(carries ? high &+ 1 : high) + hex(sum)
    }
}
