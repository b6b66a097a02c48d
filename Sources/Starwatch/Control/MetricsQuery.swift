/// The parameters of a scrape.
package struct MetricsQuery: Sendable {
    package var accept: String?
    /// Families or samples to keep; empty means all.
    package var names: [String] = []
    /// The value of `X-Prometheus-Scrape-Timeout-Seconds`.
    package var scrapeTimeout: Duration?

    package init() {}
}

/// The answer to a scrape.
package struct MetricsAnswer: Sendable {
    /// 200, or 503 when too many scrapes are in flight or the scrape timed out.
    package var status: Int
    package var contentType: String
    package var body: [UInt8]
}
