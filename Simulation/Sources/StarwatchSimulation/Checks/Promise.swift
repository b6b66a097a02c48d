/// What must hold in every run.
package enum Promise: String, Sendable, CaseIterable {
    /// What the server shows of starred plans was accepted by a sink, or is listed as dead.
    case nothingLost = "nothing_lost"
    /// What the agent calls delivered was accepted by a sink.
    case nothingInvented = "nothing_invented"
    /// A sink that deduplicates gets a change in one notification only.
    case nothingTwice = "nothing_twice"
    /// Every try of a notification has the same content.
    case sameContent = "same_content"
    case watermarkRises = "watermark_rises"
    /// Nothing at or below the watermark is open, and nothing is missing there.
    case watermarkTruthful = "watermark_truthful"
    case booksBalance = "books_balance"
    case retryAfter = "retry_after"
    case requestLimit = "request_limit"
    case acknowledgementLimit = "acknowledgement_limit"
    /// Only what a sink accepted, or what was unstarred, is acknowledged.
    case acknowledgedAfterDelivery = "acknowledged_after_delivery"
    /// One key, one body.
    case idempotency
    /// When everything is well again, all is delivered and acknowledged within hours.
    case settles
    /// The agent starts, and stops, whatever happened before.
    case lives
}

/// A promise that was broken.
package struct Violation: Sendable, Hashable, CustomStringConvertible {
    package let promise: Promise
    package let detail: String

    package var description: String { "\(promise.rawValue): \(detail)" }
}
