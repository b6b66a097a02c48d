import StarwatchCore
import StarwatchTransport

/// A request with a notification as a service wants it.
struct ServiceRequest {
    let body: [UInt8]
    var method = HTTPRequest.Method.post
    /// Path that is appended to the address.
    var path = ""
    /// A parameter of the address's query.
    var parameter: (name: String, value: String)?
    /// Headers of the service, as that with the token.
    var headers: [(name: String, value: String)] = []

    init(_ body: [UInt8], path: String = "", headers: [(name: String, value: String)] = []) {
        (self.body, self.path, self.headers) = (body, path, headers)
    }

    init(
        _ json: JSONTree,
        method: HTTPRequest.Method = .post,
        path: String = "",
        parameter: (name: String, value: String)? = nil,
        headers: [(name: String, value: String)] = []
    ) {
        self.init(StableJSON.bytes(of: json), path: path, headers: headers)
        (self.method, self.parameter) = (method, parameter)
    }

    /// The URL of the request: its path below that of the address, and its parameter in place of one of that name.
    func url(at address: String) -> String {
        let parts = address.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        var url = String(parts[0])
        if !path.isEmpty { url = (url.hasSuffix("/") ? String(url.dropLast()) : url) + path }
        var parameters = parts.dropFirst().flatMap { $0.split(separator: "&") }.map(String.init)
        if let (name, value) = parameter {
            parameters.removeAll { $0.hasPrefix(name + "=") }
            parameters.append("\(name)=\(value)")
        }
        return parameters.isEmpty ? url : "\(url)?\(parameters.joined(separator: "&"))"
    }
}

extension JSONTree {
    /// The object with a further member; the same one if `value` is `nil`.
    func adding(_ name: String, _ value: JSONTree?) -> JSONTree {
        guard case .object(var members) = self, let value else { return self }
        members[name] = value
        return .object(members)
    }
}
