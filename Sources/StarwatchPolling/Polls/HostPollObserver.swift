import CoreMetrics
package import StarwatchCore

/// A receiver of the steps of a host application's polls, for metrics.
package protocol HostPollObserver: RequestObserver {
    /// A poll ended. Its duration includes all waits.
    func ended(_ outcome: HostPollOutcome, after duration: Duration)
}

extension HostPollObserver {
    package func turnCame() {}
    package func failed(_ failure: APIFailure, _ request: borrowing OpenRequest) async {}
}

/// Reports the polls of a manager without an agent through swift-metrics, under the names of the agent's page.
///
/// Metrics are looked up for every event, which is rare: the program can install its backend at any time.
struct MetricsFacadeObserver: HostPollObserver {
    /// The backend; `nil` for the program's.
    var factory: (any MetricsFactory)?

    func throttled(by source: ThrottleSource, for wait: Duration) {
        count("starwatch_host_throttled_total", ("source", source.rawValue))
        time("starwatch_host_throttle_wait_seconds", wait, ("source", source.rawValue))
    }

    func tried(_ request: borrowing OpenRequest) {
        count("starwatch_host_requests_total", ("result", request.result.rawValue))
        time("starwatch_host_request_seconds", request.end.duration)
    }

    func retrying(because reason: RetryReason, after delay: Duration?) {
        count("starwatch_host_retries_total", ("reason", reason.rawValue))
    }

    func exhausted(because reason: RetryReason) {
        count("starwatch_host_retries_exhausted_total", ("reason", reason.rawValue))
    }

    func ended(_ outcome: HostPollOutcome, after duration: Duration) {
        count("starwatch_host_polls_total", ("outcome", outcome.rawValue))
        time("starwatch_host_poll_seconds", duration)
    }

    private func count(_ name: String, _ label: (String, String)) {
        Counter(label: name, dimensions: [label], factory: factory ?? MetricsSystem.factory).increment()
    }

    private func time(_ name: String, _ duration: Duration, _ labels: (String, String)...) {
        Timer(label: name, dimensions: labels, factory: factory ?? MetricsSystem.factory)
            .recordNanoseconds(Int64(duration.inSeconds * 1_000_000_000))
    }
}
