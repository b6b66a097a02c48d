import Starwatch
import StarwatchCore

/// The meanings of the status page's words, and what to do about each.
extension SkipReason {
    var meaning: HTML {
        switch self {
        case .noIdentity: "No identity is signed in: <code>starwatch identity set DID</code>."
        case .noStars: "The identity has no stars: <code>starwatch stars add ID</code>."
        case .optedOut:
            """
            It is switched off, by <code>polls.NAME.enabled</code> in the configuration or by \
            <code>starwatch identity opt-out KIND</code>; <code>opt-in KIND</code> ends the latter.
            """
        case .backpressure: "The outbox is nearly full."
        case .throttled: "Waiting for the server’s rate limit."
        case .circuitOpen: "The server failed repeatedly, so requests to it pause."
        case .noToken: "There is no key or token to sign in with. Check <code>auth</code> in the configuration."
        case .overlap: "The previous run was still in progress."
        }
    }
}

extension SlotCode {
    var meaning: HTML {
        switch self {
        case .stale: "The content was older than <code>ttl</code>, because the fetches fail. See the log."
        case .empty: "The content is empty, and <code>on_empty</code> is <code>skip</code>."
        case .noContent: "There was no content, and <code>on_missing</code> shows nothing instead. See the log."
        case .missed: "The agent was not running at the digest’s time or in the 10 minutes after it."
        case .undelivered: "No sink could be reached before the content expired."
        case .rejected: "The sinks rejected it."
        case .noSink: "All sinks of the digest are disabled. Fix them, then run <code>starwatch reload</code>."
        case .fetchFailed: "The fetch failed. The digest can still be shown; callbacks report the failure."
        }
    }
}
