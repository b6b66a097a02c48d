import Foundation
import StarwatchCore
import StarwatchTransport

extension SinkAddress {
    /// Whether requests can go to an address: over TLS or to this machine, without credentials in it.
    static func isGood(url: String) -> Bool {
        guard let parts = URLComponents(string: url), let host = parts.host, !host.isEmpty, parts.user == nil,
            parts.password == nil, parts.port.map((1...65_535).contains) ?? true
        else { return false }
        let scheme = parts.scheme?.lowercased()
        return scheme == "https" || scheme == "http" && ListenAddress.isLoopback(host)
    }

    /// The scheme, host and port of a URL.
    static func host(ofURL url: String) -> String {
        guard let parts = URLComponents(string: url) else { return "" }
        let port = parts.port.map { ":\($0)" } ?? ""
        return "\(parts.scheme?.lowercased() ?? "")://\(parts.host?.lowercased() ?? "")\(port)"
    }

    /// The parts of a URL that can be a credential: everything after its host, whole and in parts.
    static func secrets(ofURL url: String) -> [String] {
        guard let parts = URLComponents(string: url) else { return [url] }
        let segments = parts.percentEncodedPath.split(separator: "/").map(String.init)
        let values = (parts.percentEncodedQueryItems ?? []).compactMap(\.value)
        let encoded = [parts.percentEncodedPath, parts.percentEncodedQuery].compactMap(\.self) + segments + values
        return encoded + encoded.compactMap(\.removingPercentEncoding)
    }
}
