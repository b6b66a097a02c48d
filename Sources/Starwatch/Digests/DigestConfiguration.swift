import Foundation
import StarwatchCore

/// The digest configuration in the form that the database stores and callbacks receive.
enum DigestConfiguration {
    private struct Entry: Encodable {
        let name: String
        let times: [String]
        let timezone: String?
        let host: String?
        let method: String?
        let fetcher: String?
        let poll: String?
        let window_seconds: Double
        let lead_seconds: Double
        let ttl_seconds: Double
        let mode: String
        let on_missing: String
        let on_empty: String
        let sinks: [String]?
    }

    /// JSON without texts, headers, bodies and files, and without the part of a URL after the host.
    static func json(_ digests: [DigestOptions]) -> String {
        let entries = digests.map { digest in
            Entry(
                name: digest.name.rawValue,
                times: digest.times.map(\.description),
                timezone: digest.timezone,
                host: digest.content.fetch.flatMap { URLComponents(string: $0.url)?.host },
                method: digest.content.fetch?.method.rawValue,
                fetcher: digest.content.fetcherName,
                poll: digest.content.pollName?.rawValue,
                window_seconds: digest.window.inSeconds,
                lead_seconds: digest.lead.inSeconds,
                ttl_seconds: digest.longestAge.inSeconds,
                mode: digest.mode.rawValue,
                on_missing: digest.onMissing.rawValue,
                on_empty: digest.onEmpty.rawValue,
                sinks: digest.sinks
            )
        }
        return StableJSON.text(of: entries)
    }
}
