import Foundation
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
        let vector: Vector = try await get("query?query=\(PercentEncoding.encode(query))", at: server)
        return vector.result.first?.value.number
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
        let rules: Rules = try await get("rules?type=alert", at: server)
        for rule in rules.groups.flatMap(\.rules) { state.alerts[rule.name] = rule.state }
        let receivers: Receivers = try await get("alertmanagers", at: server)
        state.alertmanagers = receivers.activeAlertmanagers.count
        return state
    }

    /// Returns the data of an answer of the API.
    private static func get<Content: Decodable>(_ path: String, at server: String) async throws(AgentError) -> Content {
        let time = SystemClock()
        let response: HTTPResponse
        do throws(HTTPError) {
            let http = try HTTPClient(time: time)
            defer { http.shutdown() }
            let url = "\(server)\(server.hasSuffix("/") ? "" : "/")api/v1/\(path)"
            response = try await http.exchange(HTTPRequest(url: url, timeout: timeout)).result.get()
        } catch { throw failure(FailureReason(error.cause)) }
        guard response.status == 200 else { throw failure(FailureReason(status: response.status)) }
        guard let answer = try? JSONDecoder().decode(Answer<Content>.self, from: Data(response.body)) else {
            throw failure(FailureReason(.malformed))
        }
        return answer.data
    }

    private static func failure(_ reason: FailureReason) -> AgentError {
        AgentError(.failed, "The query to Prometheus failed (\(reason.phrase)); correct the URL, or start Prometheus.")
    }

    private struct Answer<Content: Decodable>: Decodable { var data: Content }

    private struct Vector: Decodable {
        struct Series: Decodable { var value: Sample }

        /// `[time, "number"]`.
        struct Sample: Decodable {
            var number: Double

            init(from decoder: any Decoder) throws {
                var parts = try decoder.unkeyedContainer()
                _ = try parts.decode(Double.self)
                number = Double(try parts.decode(String.self)) ?? .nan
            }
        }

        var result: [Series]
    }

    private struct Rules: Decodable {
        struct Group: Decodable { var rules: [Rule] }

        struct Rule: Decodable {
            var name: String
            var state: String
        }

        var groups: [Group]
    }

    private struct Receivers: Decodable {
        struct Receiver: Decodable {}

        var activeAlertmanagers: [Receiver]
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
