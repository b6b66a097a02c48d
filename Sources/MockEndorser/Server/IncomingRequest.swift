import Foundation

/// A whole request, as the dialects see it.
struct IncomingRequest: Sendable {
    let method: String
    /// Without the query.
    let path: String
    /// As sent, without the question mark.
    let query: String?
    let headers: [(name: String, value: String)]
    /// The body, or the part of it that fits the limit.
    let body: [UInt8]
    /// Whether the body was longer than the dialect allows.
    let isBodyTooLong: Bool

    /// The first value of a header, its name in any case.
    func header(_ name: String) -> String? {
        headers.first { $0.name.utf8.count == name.utf8.count && $0.name.lowercased() == name.lowercased() }?.value
    }

    /// Whether the body says that it is JSON.
    var hasJSONBody: Bool {
        header("Content-Type")?.lowercased().hasPrefix("application/json") ?? false
    }

    /// A query parameter, decoded; `nil` if it is absent or cannot be decoded.
    func parameter(_ name: String) -> String? {
        guard let query else { return nil }
        for pair in query.split(separator: "&") {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            if parts[0].removingPercentEncoding == name, parts.count == 2 {
                return parts[1].replacingOccurrences(of: "+", with: " ").removingPercentEncoding
            }
        }
        return nil
    }

    /// The form in which the request is kept.
    func recorded(as endpoint: MockEndpoint, at time: Date) -> RecordedRequest {
        RecordedRequest(
            endpoint: endpoint,
            method: method,
            path: path,
            query: query,
            headers: headers,
            body: Data(body),
            receivedAt: time
        )
    }
}
