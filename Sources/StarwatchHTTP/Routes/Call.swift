import FoundationEssentials
import Hummingbird
import Starwatch
import StarwatchCore

/// A request, as routes see it.
struct Call: Sendable {
    var method: String
    /// The path's parts, percent-decoded.
    var path: [String]
    /// The texts in the places of the route's parts in braces.
    var arguments: [String] = []
    /// The query's pairs in order; names can repeat.
    var query: [(name: String, value: String)]
    /// The headers. A repeated one is read as its values joined with a comma.
    var headers: HTTPFields
    /// The `Host` header, or the host of an absolute target.
    var host: String?
    var body: [UInt8] = []

    /// `nil` if a percent escape is malformed or is not UTF-8.
    init?(method: String, target: String, headers: HTTPFields = [:], host: String? = nil) {
        let parts = target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        guard let first = parts.first, first.hasPrefix("/") else { return nil }
        self.method = method
        self.headers = headers
        self.host = host
        path = []
        for part in first.dropFirst().split(separator: "/", omittingEmptySubsequences: false) {
            guard let decoded = PercentEncoding.decode(part) else { return nil }
            path.append(decoded)
        }
        query = []
        guard parts.count == 2 else { return }
        for pair in parts[1].split(separator: "&") {
            let sides = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = PercentEncoding.decode(sides[0], plusIsSpace: true),
                let value = PercentEncoding.decode(sides.count == 2 ? sides[1] : "", plusIsSpace: true)
            else { return nil }
            query.append((name, value))
        }
    }

    /// The body, decoded from JSON.
    func decoded<Body: ControlBody>(_ type: Body.Type, form: String) throws(ControlError) -> Body {
        do {
            let (decoder, data) = (JSONDecoder(), Data(body))
            // A mistyped field must not be ignored.
            if Set(try decoder.decode([String: AnyValue].self, from: data).keys).isSubset(of: type.fields) {
                return try decoder.decode(type, from: data)
            }
        } catch {
            // The decoder's message can quote the body.
        }
        throw ControlError(.invalid, "The body must be JSON of the form \(form).")
    }

    private struct AnyValue: Decodable {
        init(from decoder: any Decoder) {}
    }
}

extension HTTPFields.Element.Name {
    static let host = Self("Host")!
    static let lastEventID = Self("Last-Event-ID")!
    static let scrapeTimeout = Self("X-Prometheus-Scrape-Timeout-Seconds")!
}
