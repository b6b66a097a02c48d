/// The catalogue as it was promised, written down apart from the code that implements it.
enum ExpectedFamilies {
    struct Family: Sendable, CustomStringConvertible {
        let name: String
        let type: String
        /// Label to values; `nil` values are the configured names.
        let labels: [(name: String, values: [String]?)]
        var description: String { name }
    }

    private static func family(_ name: String, _ type: String, _ labels: (String, [String]?)...) -> Family {
        Family(name: name, type: type, labels: labels.map { (name: $0.0, values: $0.1) })
    }

    private static let poll: (String, [String]?) = ("poll", nil)
    private static let sink: (String, [String]?) = ("sink", nil)
    private static let endpoint: (String, [String]?) = (
        "endpoint",
        [
            "plans_changed", "offers_to_me", "offers_to_my_projects", "offers_to_plans", "gives_to_me",
            "gives_to_plans", "plans", "claims", "acknowledge", "time", "list",
        ]
    )
    private static let retryReason: (String, [String]?) = (
        "reason", ["network", "timeout", "rate_limited", "unavailable", "server_error", "unauthenticated"]
    )
    private static let failureReason: (String, [String]?) = (
        "reason",
        [
            "dns", "connect", "tls", "timeout", "reset", "malformed", "html", "http_3xx", "http_400", "http_401",
            "http_403", "http_404", "http_410", "http_429", "http_4xx", "http_503", "http_5xx", "contract", "no_token",
            "local", "database",
            "other",
        ]
    )
    private static let requestResult: (String, [String]?) = (
        "result",
        [
            "ok", "not_modified", "bad_request", "unauthenticated", "forbidden", "not_found", "redirected",
            "rate_limited", "server_error", "timeout", "dns", "connect", "tls", "reset", "too_large", "malformed",
            "html", "cancelled",
        ]
    )
    private static let source: (String, [String]?) = ("source", ["server", "client"])

    static let contract: [Family] = [
        family("starred_projects_poll_attempts_total", "counter"),
        family("starred_projects_poll_success_total", "counter"),
        family("starred_projects_poll_failure_total", "counter"),
        family("starred_projects_poll_duration_seconds", "histogram"),
        family("starred_projects_changes_found_total", "counter"),
        family("starred_projects_notifications_generated_total", "counter"),
        family("starred_projects_error_total", "counter"),
        family("starred_projects_rate_limit_total", "counter"),
        family("starred_projects_api_latency_seconds", "histogram"),
        family("starred_projects_api_throughput_rps", "gauge"),
        family("starred_projects_outbox_size", "gauge"),
        family("starred_projects_outbox_backpressure_active", "gauge"),
    ]

    static let polls: [Family] = [
        family("starwatch_poll_attempts_total", "counter", poll),
        family("starwatch_poll_success_total", "counter", poll),
        family("starwatch_poll_failure_total", "counter", poll),
        family(
            "starwatch_poll_outcomes_total",
            "counter",
            poll,
            ("outcome", ["changed", "unchanged", "bootstrapped", "deferred", "failed", "cancelled"])
        ),
        family(
            "starwatch_poll_skipped_total",
            "counter",
            poll,
            (
                "reason",
                [
                    "no_identity", "no_stars", "opted_out", "backpressure", "throttled", "circuit_open",
                    "endpoint_missing", "no_token", "overlap",
                ]
            )
        ),
        family("starwatch_poll_failure_reasons_total", "counter", poll, failureReason),
        family("starwatch_poll_duration_seconds", "histogram", poll),
        family("starwatch_poll_in_flight", "gauge", poll),
        family("starwatch_poll_last_attempt_timestamp_seconds", "gauge", poll),
        family("starwatch_poll_last_success_timestamp_seconds", "gauge", poll),
        family("starwatch_poll_next_run_timestamp_seconds", "gauge", poll),
        family("starwatch_poll_interval_seconds", "gauge", poll),
        family("starwatch_poll_stale_after_seconds", "gauge", poll),
        family(
            "starwatch_schedule_runs_total",
            "counter",
            poll,
            ("outcome", ["on_time", "late", "missed", "coalesced"])
        ),
        family("starwatch_schedule_delay_seconds", "histogram", poll),
        family("starwatch_poll_pages_total", "counter", poll),
        family("starwatch_poll_changes_found_total", "counter", poll),
        family("starwatch_poll_superseded_total", "counter", poll),
        family("starwatch_poll_plans_left_out_total", "counter", poll),
        family(
            "starwatch_contract_violations_total",
            "counter",
            poll,
            ("kind", ["schema", "order", "cursor", "hit_limit", "id_kind"])
        ),
    ]

    static let api: [Family] = [
        family(
            "starwatch_api_requests_total",
            "counter",
            endpoint,
            requestResult
        ),
        family("starwatch_api_latency_seconds", "histogram", endpoint),
        family(
            "starwatch_api_phase_seconds",
            "histogram",
            ("phase", ["dns", "connect", "tls", "first_byte", "transfer"])
        ),
        family("starwatch_api_received_bytes_total", "counter", endpoint),
        family("starwatch_api_sent_bytes_total", "counter", endpoint),
        family("starwatch_retries_total", "counter", endpoint, retryReason),
        family("starwatch_retries_exhausted_total", "counter", endpoint, retryReason),
        family("starwatch_retry_delay_seconds", "histogram"),
        family("starwatch_throttled_total", "counter", endpoint, source),
        family("starwatch_throttle_wait_seconds", "histogram", source),
        family("starwatch_throttle_until_timestamp_seconds", "gauge"),
        family("starwatch_rate_limit_remaining", "gauge"),
        family("starwatch_circuit_state", "gauge", ("target", nil)),
        family(
            "starwatch_circuit_transitions_total",
            "counter",
            ("target", nil),
            ("to", ["closed", "half_open", "open"])
        ),
    ]

    static let outbox: [Family] = [
        family("starwatch_outbox_rows", "gauge", ("state", ["pending", "claimed", "delivered", "dead"])),
        family("starwatch_outbox_capacity_rows", "gauge"), family("starwatch_scheduler_progress_age_seconds", "gauge"),
        family("starwatch_outbox_backpressure_active", "gauge"),
        family(
            "starwatch_outbox_changes_total",
            "counter",
            (
                "change",
                [
                    "inserted", "duplicate", "rejected", "claimed", "delivered", "acknowledged", "retried", "dead",
                    "cancelled", "suppressed", "evicted", "refetched", "discarded", "cleaned",
                ]
            )
        ),
        family("starwatch_outbox_oldest_due_timestamp_seconds", "gauge"),
        family("starwatch_outbox_oldest_pending_timestamp_seconds", "gauge"),
        family("starwatch_outbox_oldest_dead_timestamp_seconds", "gauge"),
        family("starwatch_quarantined_rows", "gauge"),
        family("starwatch_ledger_imbalance_rows", "gauge", ("law", ["fetched", "new"])),
        family(
            "starwatch_ledger_entries_total",
            "counter",
            (
                "entry",
                [
                    "fetched", "new", "duplicate", "rejected", "delivered", "dead", "cancelled", "suppressed",
                    "evicted", "acknowledged",
                ]
            )
        ),
        family("starwatch_notifications_total", "counter", poll, ("group", ["single", "several", "many"])),
        family(
            "starwatch_delivery_attempts_total",
            "counter",
            sink,
            ("result", ["ok", "rejected", "unavailable", "timeout", "given_up"])
        ),
        family("starwatch_delivery_failures_total", "counter", sink, failureReason),
        family("starwatch_delivery_seconds", "histogram", sink),
        family("starwatch_fleet_accounts", "gauge", ("state", ["active", "paused"])),
        family("starwatch_fleet_leases", "gauge"),
        family("starwatch_fleet_lease_claims_total", "counter", ("result", ["released", "expired"])),
        family("starwatch_fleet_leases_lost_total", "counter"),
        family("starwatch_fleet_due_accounts", "gauge"),
        family("starwatch_fleet_shared_polls_total", "counter"),
        family("starwatch_fleet_shared_requests_total", "counter"),
        family("starwatch_fleet_stale_accounts", "gauge"),
        family("starwatch_fleet_accounts_without_address", "gauge"),
        family("starwatch_fleet_failing_accounts", "gauge", failureReason),
        family("starwatch_fleet_unreachable_hosts", "gauge", sink),
        family("starwatch_fleet_oldest_due_timestamp_seconds", "gauge"),
        family("starwatch_fleet_visit_delay_seconds", "histogram"),
        family("starwatch_fleet_visit_seconds", "histogram"),
        family("starwatch_fleet_reachable_interval_seconds", "gauge"),
        family("starwatch_canaries_total", "counter", ("step", ["sent", "arrived"])),
        family("starwatch_canary_interval_seconds", "gauge"),
        family("starwatch_canary_last_arrival_timestamp_seconds", "gauge"),
        family("starwatch_sink_disabled", "gauge", sink), family("starwatch_sink_backlog_rows", "gauge", sink),
        family("starwatch_sink_held_rows", "gauge", sink),
        family("starwatch_sink_last_success_timestamp_seconds", "gauge", sink),
        family("starwatch_freshness_seconds", "histogram", poll),
        family(
            "starwatch_acknowledgements_total",
            "counter",
            ("result", ["ok", "already", "retried", "failed", "local"])
        ),
        family("starwatch_watermark_timestamp_seconds", "gauge", poll),
        family("starwatch_fetch_cursor_timestamp_seconds", "gauge", poll),
        family("starwatch_watermark_advances_total", "counter", poll),
        family("starwatch_watermark_conflicts_total", "counter", poll),
    ]

    static let digests: [Family] = [
        family(
            "starwatch_digest_prefetches_total",
            "counter",
            (
                "outcome",
                [
                    "fetched", "not_modified", "timeout", "unreachable", "refused", "malformed", "no_token",
                    "cancelled",
                ]
            )
        ),
        family(
            "starwatch_digest_deliveries_total",
            "counter",
            ("status", ["scheduled", "shown", "skipped", "skipped_stale", "error"])
        ),
        family("starwatch_digest_lateness_seconds", "histogram"),
        family(
            "starwatch_callback_events_total",
            "counter",
            ("kind", ["delivery", "error", "heartbeat", "config_updated"]),
            ("outcome", ["queued", "sent", "refused", "unavailable"])
        ),
        family("starwatch_callback_events_dropped_total", "counter"),
        family("starwatch_callback_events_waiting", "gauge"),
    ]

    static let agent: [Family] = [
        family("starwatch_clock_skew_seconds", "gauge"),
        family("starwatch_clock_skew_uncertainty_seconds", "gauge"),
        family("starwatch_clock_local_timestamp_seconds", "gauge"),
        family("starwatch_clock_max_skew_seconds", "gauge"),
        family(
            "starwatch_clock_samples_total",
            "counter",
            ("source", ["time_endpoint", "date_header", "ntp"]),
            ("result", ["used", "ignored_age", "ignored_rtt", "ignored_jump", "unparsable", "failed"])
        ),
        family("starwatch_clock_last_sync_timestamp_seconds", "gauge"),
        family("starwatch_clock_jumps_total", "counter", ("kind", ["forward", "backward", "suspend"])),
        family("starwatch_token_refreshes_total", "counter", ("result", ["ok", "failed"])),
        family("starwatch_token_expiry_timestamp_seconds", "gauge"),
        family("starwatch_key_created_timestamp_seconds", "gauge"),
        family("starwatch_token_pool_remaining", "gauge"),
        family("starwatch_identity_changes_total", "counter"),
        family("starwatch_config_last_reload_successful", "gauge"),
        family("starwatch_config_last_reload_success_timestamp_seconds", "gauge"),
        family("starwatch_log_suppressed_total", "counter"),
        family("starwatch_log_dropped_total", "counter"),
        family("starwatch_store_errors_total", "counter", ("kind", ["busy", "full", "corrupt", "io", "version"])),
        family("starwatch_store_bytes", "gauge", ("file", ["database", "wal", "free_disk"])),
        family("starwatch_storage_encrypted", "gauge"),
        family("starwatch_storage_check_state", "gauge"),
        family("starwatch_storage_reencryption_ratio", "gauge"),
        family("starwatch_scrapes_total", "counter", ("code", ["200", "503"])),
        family("starwatch_scrape_seconds", "histogram"),
        family("starwatch_scrapes_in_flight", "gauge"),
    ]

    static let host: [Family] = [
        family(
            "starwatch_host_polls_total",
            "counter",
            ("outcome", ["ok", "empty", "not_modified", "failed", "cancelled"])
        ),
        family("starwatch_host_poll_seconds", "histogram"),
        family("starwatch_host_requests_total", "counter", requestResult),
        family("starwatch_host_request_seconds", "histogram"),
        family("starwatch_host_retries_total", "counter", retryReason),
        family("starwatch_host_retries_exhausted_total", "counter", retryReason),
        family("starwatch_host_throttled_total", "counter", source),
        family("starwatch_host_throttle_wait_seconds", "histogram", source),
    ]

    /// Families whose label values the catalogue leaves open.
    static let open: [(name: String, type: String, labels: Set<String>)] = [
        ("starwatch_log_entries_total", "counter", ["level"]),
        ("starwatch_log_redactions_total", "counter", ["kind"]),
        ("starwatch_store_transaction_seconds", "histogram", ["operation"]),
        ("starwatch_control_requests_total", "counter", ["operation", "result"]),
        ("starwatch_control_refused_total", "counter", ["reason"]),
        ("starwatch_http_refused_total", "counter", ["reason"]),
        ("starwatch_web_config_last_reload_successful", "gauge", ["port"]),
    ]

    static let process = [
        "process_cpu_seconds_total", "process_open_fds", "process_max_fds", "process_virtual_memory_bytes",
        "process_resident_memory_bytes", "process_start_time_seconds",
    ]

    static let all = contract + polls + api + outbox + digests + agent + host

    /// Whether anything can count these labels. The others are not on the page.
    static func occurs(_ labels: [String: String], in family: String) -> Bool {
        let isPolled = !["acknowledge", "time"].contains(labels["endpoint"])
        return switch family {
        case "starwatch_retries_total", "starwatch_retries_exhausted_total":
            isPolled || labels["reason"] == "unauthenticated"
        case "starwatch_api_requests_total":
            isPolled
                || !["not_modified", "bad_request", "not_found", "redirected", "too_large", "html", "cancelled"]
                    .contains(labels["result"])
        case "starwatch_poll_failure_reasons_total", "starwatch_fleet_failing_accounts": labels["reason"] != "local"
        case "starwatch_clock_samples_total":
            labels["result"] != "ignored_jump" && (labels["source"] != "date_header" || labels["result"] != "failed")
        default: true
        }
    }
}
