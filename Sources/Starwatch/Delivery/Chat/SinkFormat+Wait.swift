import StarwatchCore
import StarwatchTransport

extension SinkFormat {
    /// The wait that a service asks for in its answer, beside or in place of `Retry-After`; `nil` if it asks for none.
    static func chatWait(_ response: HTTPResponse, now: Timestamp) -> Duration? {
        // Pushover: the time at which a new month begins.
        if let reset = response.headers["x-limit-app-reset"].flatMap({ Int64($0) }), response.status == 429 {
            // A week later it asks again.
            return .seconds(min(max(0, min(reset, 1 << 40) - now.wholeSeconds), 7 * 86_400))
        }
        let body = JSONTree(json: response.body)
        // Seconds of Discord, milliseconds of Matrix, and seconds of Telegram.
        let seconds =
            body?["retry_after"]?.double ?? body?["retry_after_ms"]?.double.map { $0 / 1000 }
            ?? body?["parameters.retry_after"]?.double
        guard let seconds, seconds > 0, seconds < 1e9 else { return nil }
        return .milliseconds(Int64((seconds * 1000).rounded(.up)))
    }
}
