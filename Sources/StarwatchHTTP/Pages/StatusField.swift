/// A field of ``AgentStatus`` as JSON. Users can rely on the list; a test checks the encoding against it.
struct StatusField: Sendable {
    /// `NAME` stands for a poll's, digest's or sink's name.
    var path: String
    var meaning: String

    static let all: [StatusField] = [
        .init(path: "status", meaning: "healthy or degraded"),
        .init(path: "reasons", meaning: "Why it is degraded, as words of a fixed set; empty when healthy."),
        .init(path: "version", meaning: "The agent's version."),
        .init(path: "started_at", meaning: "When the agent started."),
        .init(path: "now", meaning: "When this was written."),
        .init(path: "identity", meaning: "A pseudonym of the active identity; absent when signed out."),
        .init(path: "polls.NAME.kind", meaning: "starred_projects, offers_to_me or offers_to_my_projects"),
        .init(path: "polls.NAME.stale", meaning: "Whether the last success is too long ago."),
        .init(path: "polls.NAME.stale_after_seconds", meaning: "How old the last success may be."),
        .init(path: "polls.NAME.last_attempt", meaning: "When a cycle last reached the server."),
        .init(path: "polls.NAME.last_success", meaning: "When a cycle last fetched all there was."),
        .init(
            path: "polls.NAME.last_outcome",
            meaning: "How the last cycle ended: changed, unchanged, bootstrapped, deferred or failed."
        ),
        .init(path: "polls.NAME.next_run", meaning: "When the schedule fires next."),
        .init(path: "polls.NAME.watermark_time", meaning: "The server's time up to which everything is finished."),
        .init(path: "polls.NAME.fetch_cursor_time", meaning: "The server's time up to which everything is fetched."),
        .init(path: "polls.NAME.skip_reason", meaning: "Why the latest run was skipped; absent if it was not."),
        .init(path: "digests.NAME.next_run", meaning: "When the digest comes next."),
        .init(path: "digests.NAME.timezone", meaning: "The zone of its times."),
        .init(path: "digests.NAME.last_run", meaning: "When it last came or should have, in the last two days."),
        .init(
            path: "digests.NAME.last_status",
            meaning: "What became of it then: scheduled, shown, skipped, skipped_stale or error."
        ),
        .init(path: "digests.NAME.last_error_code", meaning: "Why it was not shown then; absent if it was."),
        .init(path: "outbox.pending", meaning: "Changes that wait to be delivered."),
        .init(path: "outbox.claimed", meaning: "Changes that are being delivered."),
        .init(path: "outbox.delivered", meaning: "Delivered changes that are not yet acknowledged."),
        .init(path: "outbox.dead", meaning: "Changes that a sink refused for good."),
        .init(path: "outbox.capacity", meaning: "The most changes that may be pending or claimed."),
        .init(path: "outbox.backpressure", meaning: "Whether polling pauses because the outbox is nearly full."),
        .init(path: "outbox.oldest_pending", meaning: "When the oldest undelivered change was stored."),
        .init(
            path: "outbox.oldest_due",
            meaning: "Since when the oldest change has been due that could be delivered now."
        ),
        .init(path: "outbox.ledger_imbalance", meaning: "Changes the books cannot account for; must be 0."),
        .init(path: "outbox.sinks.NAME", meaning: "closed (working), half_open, open or disabled"),
        .init(path: "clock.skew_seconds", meaning: "The server's time minus ours."),
        .init(path: "clock.uncertainty_seconds", meaning: "How far the skew may be off, either way."),
        .init(path: "clock.last_sync", meaning: "When the server's clock was last read."),
        .init(path: "server.dialect", meaning: "endorser or canonical; absent until the first answer."),
        .init(path: "server.circuit", meaning: "closed (working), half_open or open"),
        .init(path: "server.throttled_until", meaning: "No request is sent before this time."),
    ]
}
