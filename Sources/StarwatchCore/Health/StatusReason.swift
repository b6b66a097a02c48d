/// A reason why an agent is degraded. These are all words in the status, the gravest first.
package enum StatusReason: String, Sendable, CaseIterable {
    case storeUnavailable = "store_unavailable"
    case signedOut = "signed_out"
    case credentialsRefused = "credentials_refused"
    case noToken = "no_token"
    case circuitOpen = "circuit_open"
    case held
    case failing
    case stale
    case acknowledgementsFailing = "acknowledgements_failing"
    case deadLetters = "dead_letters"
    case quarantined
    case sinkDisabled = "sink_disabled"
    case sinkRejecting = "sink_rejecting"
    case backpressure
    case reloadRefused = "reload_refused"
    case noStars = "no_stars"
    case clockSkew = "clock_skew"
    case ledgerImbalance = "ledger_imbalance"

    /// The word with its poll, sink, port or `server`: `stale:starred_projects`.
    package func of(_ name: String) -> String { "\(rawValue):\(name)" }

    /// Splits a reason into its word and the poll, sink, port or `server` after the colon; `nil` for an unknown word.
    package static func parse(_ text: String) -> (reason: StatusReason, name: String?)? {
        let parts = text.split(separator: ":", maxSplits: 1)
        guard let reason = parts.first.flatMap({ StatusReason(rawValue: String($0)) }) else { return nil }
        return (reason, parts.count == 2 ? String(parts[1]) : nil)
    }
}
