/// The formats of `/metrics`.
package enum ExpositionFormat: String, Sendable, CaseIterable {
    /// Prometheus text format 0.0.4.
    case text
    /// OpenMetrics 1.0.
    case openMetrics

    /// The `Content-Type` header. Prometheus 3 fails a scrape without it.
    package var contentType: String {
        switch self {
        case .text: "text/plain; version=0.0.4; charset=utf-8"
        case .openMetrics: "application/openmetrics-text; version=1.0.0; charset=utf-8"
        }
    }
}
