import FoundationEssentials
import StarwatchCore
import StarwatchTransport

/// The wait that a service asks for in its answer, beside or in place of `Retry-After`.
enum ChatWait {
    private struct Body: Decodable {
        /// Discord: seconds.
        var retryAfter: Double?
        /// Matrix.
        var milliseconds: Double?
        /// Telegram.
        var parameters: Parameters?

        struct Parameters: Decodable {
            var retryAfter: Double?

            enum CodingKeys: String, CodingKey { case retryAfter = "retry_after" }
        }

        enum CodingKeys: String, CodingKey {
            case retryAfter = "retry_after"
            case milliseconds = "retry_after_ms"
            case parameters
        }
    }

    /// `nil` if the answer asks for none.
    static func read(_ response: HTTPResponse, now: Timestamp) -> Duration? {
        // Pushover: the time at which a new month begins.
        if let reset = response.headers["x-limit-app-reset"].flatMap({ Int64($0) }), response.status == 429 {
            // A week later it asks again.
            return .seconds(min(max(0, min(reset, 1 << 40) - now.wholeSeconds), 7 * 86_400))
        }
        guard let body = try? JSONDecoder().decode(Body.self, from: Data(response.body)) else { return nil }
        let seconds = body.retryAfter ?? body.milliseconds.map { $0 / 1000 } ?? body.parameters?.retryAfter
        guard let seconds, seconds > 0, seconds < 1e9 else { return nil }
        return .milliseconds(Int64((seconds * 1000).rounded(.up)))
    }
}
