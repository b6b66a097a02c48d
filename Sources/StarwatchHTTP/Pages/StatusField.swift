/// A field of ``AgentStatus`` in JSON. Users rely on this list, and a test compares it with the encoding.
struct StatusField: Sendable {
    /// The path; `NAME` stands for the name of a poll, digest or sink.
    var path: String
    var meaning: String

    static let all: [StatusField] = [
        .init(path: "status", meaning: "healthy or degraded"),
        .init(
            path: "reasons",
            meaning: "The reasons why it is degraded, from a fixed set of words; empty when healthy."
        ),
        .init(path: "version", meaning: "The agent's version."),
        .init(path: "started_at", meaning: "Start time of the agent."),
        .init(path: "now", meaning: "Time of this status."),
        .init(path: "identity", meaning: "A pseudonym of the active identity; absent when signed out."),
        .init(path: "polls.NAME.kind", meaning: "starred_projects, offers_to_me or offers_to_my_projects"),
        .init(path: "polls.NAME.stale", meaning: "Whether the last success is older than the limit."),
        .init(path: "polls.NAME.stale_after_seconds", meaning: "The limit for the age of the last success."),
        .init(path: "polls.NAME.last_attempt", meaning: "Time of the last cycle that reached the server."),
        .init(path: "polls.NAME.last_success", meaning: "Time of the last complete cycle."),
        .init(
            path: "polls.NAME.last_outcome",
            meaning: "Result of the last cycle: changed, unchanged, bootstrapped, deferred or failed."
        ),
        .init(path: "polls.NAME.next_run", meaning: "Time of the next scheduled run."),
        .init(path: "polls.NAME.watermark_time", meaning: "The server's time up to which all changes are finished."),
        .init(path: "polls.NAME.fetch_cursor_time", meaning: "The server's time up to which all changes are fetched."),
        .init(
            path: "polls.NAME.skip_reason",
            meaning: "The reason why the latest run was skipped; absent if it was not."
        ),
        .init(path: "digests.NAME.next_run", meaning: "Time of the next digest."),
        .init(path: "digests.NAME.timezone", meaning: "Time zone of the digest."),
        .init(path: "digests.NAME.last_run", meaning: "The digest's last time within two days."),
        .init(
            path: "digests.NAME.last_status",
            meaning: "Result at that time: scheduled, shown, skipped, skipped_stale or error."
        ),
        .init(path: "digests.NAME.last_error_code", meaning: "The reason why it was not shown; absent if it was."),
        .init(path: "outbox.pending", meaning: "Changes that wait for delivery."),
        .init(path: "outbox.claimed", meaning: "Changes that are being delivered."),
        .init(path: "outbox.delivered", meaning: "Delivered changes that are not yet acknowledged."),
        .init(path: "outbox.dead", meaning: "Changes that a sink rejected for good."),
        .init(path: "outbox.capacity", meaning: "The limit for pending and claimed changes."),
        .init(path: "outbox.backpressure", meaning: "Whether polling pauses because the outbox is nearly full."),
        .init(path: "outbox.oldest_pending", meaning: "Time at which the oldest undelivered change was stored."),
        .init(
            path: "outbox.oldest_due",
            meaning: "Time since which the oldest deliverable change has been due."
        ),
        .init(path: "outbox.ledger_imbalance", meaning: "Changes that the counters cannot account for; must be 0."),
        .init(path: "outbox.sinks.NAME", meaning: "closed (working), half_open, open or disabled"),
        .init(path: "clock.skew_seconds", meaning: "The server's time minus ours."),
        .init(path: "clock.uncertainty_seconds", meaning: "Uncertainty of the skew in either direction."),
        .init(path: "clock.last_sync", meaning: "Time of the last measurement."),
        .init(path: "server.dialect", meaning: "endorser or canonical; absent until the first answer."),
        .init(path: "server.circuit", meaning: "closed (working), half_open or open"),
        .init(path: "server.throttled_until", meaning: "No request is sent before this time."),
    ]
}
