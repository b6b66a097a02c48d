/// Property that holds in every run.
package enum Guarantee: String, Sendable, CaseIterable {
    /// Every change of a starred plan was accepted by a sink, or is listed as dead or in quarantine.
    case nothingLost = "nothing_lost"
    /// Every required sink accepted every row that is marked as delivered.
    case nothingInvented = "nothing_invented"
    /// A sink that deduplicates gets a change in one notification only.
    case nothingTwice = "nothing_twice"
    /// Every attempt of a notification has the same content.
    case sameContent = "same_content"
    case watermarkRises = "watermark_rises"
    /// No row at or below the watermark is open or missing.
    case watermarkTruthful = "watermark_truthful"
    case ledgerBalances = "ledger_balances"
    case retryAfter = "retry_after"
    case requestLimit = "request_limit"
    case acknowledgementLimit = "acknowledgement_limit"
    /// Only changes that every required sink accepted, or whose plan was unstarred, are acknowledged.
    case acknowledgedAfterDelivery = "acknowledged_after_delivery"
    /// An idempotency key always has the same body.
    case idempotency
    /// After the last fault, everything is delivered and acknowledged within hours.
    case settles
    /// The agent starts and stops, whatever happened before.
    case lives
    /// Only items that the server sent invalid or unreadable are in quarantine.
    case quarantineTruthful = "quarantine_truthful"
    /// The cursor passes every item in quarantine.
    case cursorPasses = "cursor_passes"
    /// Every sink gets the identifier of every delivered change, unless it rejected it or was given up.
    case namedToAll = "named_to_all"
    /// Nothing is written for an account that another process has taken over.
    case fenced
    /// No request and no notification is sent for an account without its lease, or when another process can claim it soon.
    case leaseKept = "lease_kept"
    /// A notification is only for the account that starred its plans.
    case rightAccount = "right_account"
    /// Only rows with a damaged value are set aside as unreadable.
    case damageContained = "damage_contained"
}

/// Broken guarantee.
package struct Violation: Sendable, Hashable, CustomStringConvertible {
    package let guarantee: Guarantee
    package let detail: String

    package var description: String { "\(guarantee.rawValue): \(detail)" }
}
