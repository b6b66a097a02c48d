import Starwatch
import StarwatchCore

/// What the words of the status page mean, and what to do about each.
extension StatusReason {
    var meaning: HTML {
        switch self {
        case .storeUnavailable:
            "The database cannot be read. Check the disk and the file’s owner and mode. The log has SQLite’s error."
        case .circuitOpen:
            """
            The server or a sink failed repeatedly, so requests to it pause. The agent retries by itself, and nothing \
            is lost. <code>starwatch_api_requests_total</code> and <code>starwatch_delivery_attempts_total</code> show \
            the failures.
            """
        case .held:
            """
            The server asked for a wait that is longer than the time between two runs of a poll. No request is sent before \
            its end. <code>starwatch server clear-wait</code> ends it now, if the server’s operator agrees.
            """
        case .failing:
            """
            The poll’s last two cycles or more failed or were deferred. Its row says why. The agent retries by itself, and \
            one success ends this reason.
            """
        case .acknowledgementsFailing:
            """
            The server did not accept acknowledgements two times in a row. Notifications are delivered, and the agent \
            retries by itself. <code>starwatch logs --level warn</code> shows the errors.
            """
        case .reloadRefused:
            """
            The changed configuration cannot be used, so the former one stays. With a port, the web configuration of that \
            port. <code>starwatch check</code> shows the errors of the configuration, and the log those of a web \
            configuration. Correct them; SIGHUP reloads the configuration.
            """
        case .stale:
            """
            The last success is older than the poll’s <code>stale_after</code>. \
            <code>starwatch poll NAME</code> runs it and shows the error.
            """
        case .deadLetters:
            """
            A sink rejected changes for good, or was given up after <code>give_up_after</code>. \
            <code>starwatch outbox list --state dead</code> lists them. \
            <code>outbox retry ID</code> retries one, <code>outbox discard ID</code> discards it.
            """
        case .quarantined:
            """
            The server sent invalid items, which were rejected alone. <code>starwatch quarantine list</code> shows where \
            their faults are; <code>quarantine discard ID</code> ends the notice.
            """
        case .sinkDisabled:
            "A sink returned 410 Gone and is disabled. Fix or remove it, then send SIGHUP. Its changes wait."
        case .sinkRejecting:
            """
            A sink rejected its last notifications, all of them. Check its URL and credentials. After \
            <code>outbox.max_retries</code> rejections a notification is a dead letter.
            """
        case .signedOut:
            "No identity is signed in, so nothing is polled. <code>starwatch identity set DID</code> signs in."
        case .noStars:
            """
            The identity has no starred projects, so the poll is skipped. <code>starwatch stars add ID</code> adds one; \
            <code>starwatch stars opt-out</code> says that none are wanted.
            """
        case .noToken:
            """
            The poll needs a token, and there is none: <code>auth.kind</code> is <code>none</code> and the poll asks for \
            offers, or the token’s file or command fails. Check <code>auth</code>.
            """
        case .credentialsRefused:
            """
            The server refused the poll’s token (401, 403 or a 400 about the token). The first refusal already counts. \
            Check <code>auth</code>, the identity’s permissions and this machine’s clock.
            """
        case .backpressure:
            """
            The outbox is nearly full, so polling pauses while delivery continues. Check the sinks. Set \
            <code>required: false</code> on a sink that changes need not wait for; \
            <code>starwatch outbox discard --all --claimed</code> gives up what waits.
            """
        case .clockSkew:
            "This machine’s clock differs from the server’s by more than <code>clock.max_skew</code>. Check its time service."
        case .ledgerImbalance:
            "The outbox counters are inconsistent. This is a defect of Starwatch; please report it."
        }
    }
}

extension SkipReason {
    var meaning: HTML {
        switch self {
        case .noIdentity: "No identity is signed in: <code>starwatch identity set DID</code>."
        case .noStars: "The identity has no stars: <code>starwatch stars add ID</code>."
        case .optedOut:
            "The person opted out of this kind of notification. For starred plans: <code>starwatch stars opt-in</code>."
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
        case .noSink: "All sinks of the digest are disabled. Fix them, then send SIGHUP."
        case .fetchFailed: "The fetch failed. The digest can still be shown; callbacks report the failure."
        }
    }
}
