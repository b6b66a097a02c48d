package import StarwatchCore

/// A notification destination. It makes one attempt; the dispatcher decides about retries.
package protocol NotificationSink: Sendable {
    /// The configured name.
    var name: String { get }
    /// `true` if the sink can remove a notification that is taken back. Other sinks do not receive the withdrawal.
    var takesBack: Bool { get }
    /// Delivers one notification. The same `id` can come again after a crash or a failure, with the same content.
    ///
    /// If the task is cancelled, the answer is ``SinkAnswer/unavailable``.
    func deliver(_ notification: OutgoingNotification) async -> SinkResult

    /// The host of an address, the file, or the feed, whose circuit counts. Empty if all accounts share it.
    var host: String { get }
    /// Texts of its requests that nobody may read in an answer: the token, and the URL after its host.
    var secrets: [String] { get }
    /// Returns the pseudonym of one of many accounts, each of which has a file or feed of its own; `nil` if all share the sink.
    var pseudonym: (@Sendable (DID) -> String)? { get set }
    /// The sink of one account, which can have its own address or file.
    ///
    /// - Parameter address: The account's part. Empty if the configuration has the whole address.
    func sink(of account: DID, at address: SinkAddress) -> Self
}

extension NotificationSink {
    package var takesBack: Bool { false }
    package var host: String { "" }
    package var secrets: [String] { [] }
    package var pseudonym: (@Sendable (DID) -> String)? {
        get { nil }
        set {}
    }

    package func sink(of account: DID, at address: SinkAddress) -> Self { self }
}

/// Cause of a failed attempt, as a fixed sentence without personal data and as a reason from a closed set.
package struct SinkFailure: Error, Sendable, Hashable {
    package let sentence: String
    package let reason: FailureReason

    package init(_ sentence: String, _ reason: FailureReason) {
        (self.sentence, self.reason) = (sentence, reason)
    }

    package init(_ sentence: String, _ cause: FailureReason.Cause) {
        self.init(sentence, FailureReason(cause))
    }

    static let stopping = SinkFailure("The agent is stopping.", .cancelled)
    static let abandoned = SinkFailure("Another process owns the account.", .cancelled)
}

/// Result of one attempt.
package struct SinkResult: Sendable, Equatable {
    package let answer: SinkAnswer
    /// Cause of the failure; `nil` if the sink accepted the notification.
    package let failure: SinkFailure?
    /// The delay that an unavailable sink requested.
    package var retryAfter: Duration?
    /// Whether only the receiver is unavailable, such as a full mailbox. The sink still serves other accounts.
    var isOfReceiver = false
    /// Whether the wait that the answer asks for is not that of the whole host.
    var isOwnWait = false
    /// The body of the service's answer, for ``words(hiding:)`` alone; empty if there is none. It changes no meaning, so results
    /// are equal without it.
    var said: [UInt8] = []

    package static let ok = SinkResult(answer: .ok, failure: nil)
    package static let timeout = SinkResult(
        answer: .timeout,
        failure: SinkFailure("The sink did not answer in time.", .timeout)
    )
    package static let gone = gone("The sink wants no more notifications; it is off until a reload.")

    /// The answer 410 Gone to the address of one of many accounts.
    static let addressGone = gone(
        "The address of the account wants no more notifications; it is off until it is added again."
    )

    private static func gone(_ sentence: String) -> SinkResult {
        SinkResult(answer: .gone, failure: SinkFailure(sentence, FailureReason(status: 410)))
    }

    package static func rejected(_ failure: SinkFailure) -> SinkResult {
        SinkResult(answer: .rejected, failure: failure)
    }

    package static func unavailable(_ failure: SinkFailure, retryAfter: Duration? = nil) -> SinkResult {
        SinkResult(answer: .unavailable, failure: failure, retryAfter: retryAfter)
    }

    package static func == (left: SinkResult, right: SinkResult) -> Bool {
        (left.answer, left.failure, left.retryAfter, left.isOfReceiver)
            == (right.answer, right.failure, right.retryAfter, right.isOfReceiver)
    }

    /// `true` if the sink neither accepted nor rejected this notification.
    var isNoAnswer: Bool { answer == .unavailable || answer == .timeout }
}
