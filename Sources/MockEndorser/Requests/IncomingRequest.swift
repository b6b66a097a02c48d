import Foundation

/// A complete request.
struct IncomingRequest: Sendable {
    let method: String
    /// The path without the query.
    let path: String
    /// The encoded query without the question mark; `nil` if there was none.
    let query: String?
    let headers: [(name: String, value: String)]
    /// The body up to the size limit.
    let body: [UInt8]
    /// Whether the body exceeded the size limit.
    let isBodyTooLong: Bool

    /// The first value of a header, ignoring the name's case; `nil` if there is none.
    func header(_ name: String) -> String? {
        headers.first { $0.name.utf8.count == name.utf8.count && $0.name.lowercased() == name.lowercased() }?.value
    }

    /// Whether the `Content-Type` is JSON.
    var hasJSONBody: Bool { header("Content-Type")?.lowercased().hasPrefix("application/json") ?? false }

    /// The decoded value of a query parameter; `nil` if it is absent or malformed.
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

    /// The request in the form of the mock's record.
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
