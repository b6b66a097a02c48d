package import StarwatchCore
package import StarwatchPolling
package import StarwatchTelemetry

// Metrics of optional features; they are on the page only with their feature.

/// Metrics of digests.
package struct DigestMetrics: Sendable {
    package let prefetches = MetricRegistry.current.counters(
        .counter("starwatch_digest_prefetches_total", "Fetches of digest content, by outcome."),
        by: LabelDimension<DigestPrefetchOutcome>("outcome")
    )
    package let deliveries = MetricRegistry.current.counters(
        .counter("starwatch_digest_deliveries_total", "Digest occurrences, by status."),
        by: LabelDimension<SlotStatus>("status")
    )
    package let lateness = MetricRegistry.current.histogram(
        .histogram("starwatch_digest_lateness_seconds", "Delay between a digest's time and its delivery to the sinks."),
        bounds: Buckets.lateness
    )
}

/// Metrics of callback events.
package struct CallbackMetrics: Sendable {
    package let events = MetricRegistry.current.counters(
        .counter("starwatch_callback_events_total", "Callback events queued, and attempts to send them."),
        by: LabelDimension<CallbackKind>("kind"),
        LabelDimension<CallbackOutcome>("outcome")
    )
    package let dropped = MetricRegistry.current.counter(
        .counter(
            "starwatch_callback_events_dropped_total",
            "Callback events dropped because they were too old or too many."
        )
    )
    package let waiting = MetricRegistry.current.gauge(
        .gauge("starwatch_callback_events_waiting", "Callback events waiting to be sent.")
    )
}

extension HostPollOutcome: MetricLabel {}

/// Metrics of polls that a host application defines. They are details, because a standalone agent has none.
package struct HostPollMetrics: Sendable {
    package let polls = MetricRegistry.current.counters(
        .counter("starwatch_host_polls_total", "Polls defined by a host application, by outcome.", stability: .detail),
        by: LabelDimension<HostPollOutcome>("outcome")
    )
    package let duration = MetricRegistry.current.histogram(
        .histogram(
            "starwatch_host_poll_seconds",
            "Duration of polls defined by a host application, including waits.",
            stability: .detail
        ),
        bounds: Buckets.cycle
    )

    func count(_ outcome: HostPollOutcome, duration: Duration) {
        polls[outcome].increment()
        self.duration.observe(duration)
    }
}

/// Metrics of the ports with a web configuration.
package struct WebMetrics: Sendable {
    // A port without TLS has no certificate, so the series appears with the certificate.
    package let certificateExpiry = MetricRegistry.current.gauges(
        .gauge(
            "starwatch_tls_certificate_expiry_timestamp_seconds",
            unit: .seconds,
            "Time when the port's certificate expires.",
            stability: .detail
        ),
        by: LabelDimension<ServedPort>("port", shown: CatalogueScope.current.features.certificatePorts)
    )
    package let reloadSuccessful = MetricRegistry.current.gauges(
        .gauge(
            "starwatch_web_config_last_reload_successful",
            "Whether the last reading of the port's web configuration succeeded: 1 or 0.",
            stability: .detail
        ),
        by: LabelDimension<ServedPort>("port", shown: CatalogueScope.current.features.webPorts)
    )
    /// The refused requests of `http.listen`. The control API has its own.
    package let refused = MetricRegistry.current.counters(
        .counter("starwatch_http_refused_total", "Requests that `http.listen` refused, by reason.", stability: .detail),
        by: LabelDimension<ControlRefusal>(
            "reason",
            shown: CatalogueScope.current.features.webPorts.contains(.http) ? [.host, .password, .rate] : []
        )
    )
}
