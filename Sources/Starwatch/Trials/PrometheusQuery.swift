import Foundation
import StarwatchCore
import StarwatchTransport

/// One question to a Prometheus server.
package enum PrometheusQuery {
    private static let timeout = Duration.seconds(10)

    /// Returns the value of an instant query; `nil` if it has no result.
    ///
    /// - Parameter server: The server's URL, with its prefix if it has one.
    /// - Throws: ``AgentError`` if the query fails, or the answer is not one of Prometheus.
    package static func value(of query: String, at server: String) async throws(AgentError) -> Double? {
        let time = SystemClock()
        let response: HTTPResponse
        do throws(HTTPError) {
            let http = try HTTPClient(time: time)
            defer { http.shutdown() }
            let path = server.hasSuffix("/") ? "api/v1/query" : "/api/v1/query"
            let url = "\(server)\(path)?query=\(PercentEncoding.encode(query))"
            response = try await http.exchange(HTTPRequest(url: url, timeout: timeout)).result.get()
        } catch { throw failure(FailureReason(error.cause)) }
        guard response.status == 200 else { throw failure(FailureReason(status: response.status)) }
        guard let answer = try? JSONDecoder().decode(Answer.self, from: Data(response.body)) else {
            throw failure(FailureReason(.malformed))
        }
        return answer.data.result.first?.value.number
    }

    private static func failure(_ reason: FailureReason) -> AgentError {
        AgentError(.failed, "The query to Prometheus failed (\(reason.phrase)); correct the URL, or start Prometheus.")
    }

    private struct Answer: Decodable {
        struct Content: Decodable { var result: [Series] }
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

        var data: Content
    }
}
