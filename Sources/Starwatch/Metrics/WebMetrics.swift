package import StarwatchTelemetry

/// Metrics of the ports with a web configuration.
package struct WebMetrics: Sendable {
    package let certificateExpiry: MetricVector1<ServedPort, Gauge>
    package let reloadSuccessful: MetricVector1<ServedPort, Gauge>
    /// The refused requests of `http.listen`. The control API has its own.
    package let refused: MetricVector1<ControlRefusal, Counter>

    init(registry: MetricRegistry, features: MetricFeatures) {
        let ports = features.webPorts
        // A port without TLS has no certificate, so the series appears with the certificate.
        certificateExpiry = registry.gauges(
            .gauge(
                "starwatch_tls_certificate_expiry_timestamp_seconds",
                unit: .seconds,
                "Time when the port's certificate expires.",
                stability: .detail
            ),
            by: LabelDimension("port", shown: features.certificatePorts)
        )
        reloadSuccessful = registry.gauges(
            .gauge(
                "starwatch_web_config_last_reload_successful",
                "Whether the last reading of the port's web configuration succeeded: 1 or 0.",
                stability: .detail
            ),
            by: LabelDimension("port", shown: ports)
        )
        refused = registry.counters(
            .counter(
                "starwatch_http_refused_total",
                "Requests that `http.listen` refused, by reason.",
                stability: .detail
            ),
            by: LabelDimension("reason", shown: ports.contains(.http) ? [.host, .password, .rate] : [])
        )
    }
}
