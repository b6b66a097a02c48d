import StarwatchCore
import StarwatchTransport

/// Questions to a Prometheus server.
package enum PrometheusQuery {
    private static let timeout = Duration.seconds(10)

    /// Returns the value of an instant query; `nil` if it has no result.
    ///
    /// - Parameter server: The server's URL, with its prefix if it has one.
    /// - Throws: ``AgentError`` if the query fails, or the answer is not one of Prometheus.
    package static func value(of query: String, at server: String) async throws(AgentError) -> Double? {
        let vector = try await list("result", of: "query?query=\(PercentEncoding.encode(query))", at: server)
        guard let first = vector.first else { return nil }
        // `[time, "number"]`.
        guard case .text(let number)? = first["value.1"] else { throw failure(FailureReason(.malformed)) }
        return Double(number) ?? .nan
    }

    /// Returns the part of alerting that would notice an agent that vanishes.
    ///
    /// - Parameter job: The name of the job that scrapes agents.
    /// - Throws: ``AgentError`` as ``value(of:at:)``.
    package static func alerting(of job: String, at server: String) async throws(AgentError) -> AlertingState {
        var state = AlertingState()
        let up = "up{job=\"\(job)\"}"
        state.targets = Int(try await value(of: "count(\(up))", at: server) ?? 0)
        state.scraped = Int(try await value(of: "sum(\(up))", at: server) ?? 0)
        for group in try await list("groups", of: "rules?type=alert", at: server) {
            guard case .list(let rules)? = group["rules"] else { throw failure(FailureReason(.malformed)) }
            for rule in rules {
                guard case .text(let name)? = rule["name"], case .text(let word)? = rule["state"] else {
                    throw failure(FailureReason(.malformed))
                }
                state.alerts[name] = word
            }
        }
        state.alertmanagers = try await list("activeAlertmanagers", of: "alertmanagers", at: server).count
        return state
    }

    /// Returns a list in the data of an answer of the API.
    private static func list(
        _ field: String,
        of path: String,
        at server: String
    ) async throws(AgentError) -> [JSONTree] {
        let time = SystemClock()
        let response: HTTPResponse
        do throws(APIFailure) {
            let http = try HTTPClient(time: time)
            defer { http.shutdown() }
            let url = "\(server)\(server.hasSuffix("/") ? "" : "/")api/v1/\(path)"
            response = try await http.exchange(HTTPRequest(url: url, timeout: timeout)).result.get()
        } catch { throw failure(error.cause) }
        guard response.status == 200 else { throw failure(FailureReason(status: response.status)) }
        guard case .list(let items)? = JSONTree(json: response.body)?["data.\(field)"] else {
            throw failure(FailureReason(.malformed))
        }
        return items
    }

    private static func failure(_ reason: FailureReason) -> AgentError {
        AgentError(.failed, "The query to Prometheus failed (\(reason.phrase)); correct the URL, or start Prometheus.")
    }
}

/// The part of alerting that notices an agent that vanishes, as a Prometheus server tells it.
package struct AlertingState: Sendable, Hashable {
    /// The targets of the job.
    package var targets = 0
    /// Those whose last scrape succeeded.
    package var scraped = 0
    /// The state of each alert that is loaded, by its name: `inactive`, `pending` or `firing`.
    package var alerts: [String: String] = [:]
    /// The Alertmanagers that get the alerts.
    package var alertmanagers = 0

    package init() {}
}
