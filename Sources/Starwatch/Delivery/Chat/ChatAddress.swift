import FoundationEssentials
import StarwatchCore
import StarwatchTransport

/// The address of a chat's service, with its rules for trials and for each request. A file can change after the start.
package enum ChatAddress {
    /// Whether requests may go to an address: over TLS or to this machine, and to the service's own path.
    static func isGood(_ url: String, for service: ChatService) -> Bool {
        SinkURL.isGood(url) && problem(of: url, for: service) == nil
    }

    /// Returns what is wrong with the path of a service's address, or `nil`.
    package static func problem(of url: String, for service: ChatService) -> String? {
        guard let part = service.path else { return nil }
        let path = URLComponents(string: url)?.path ?? ""
        guard let found = path.firstRange(of: part) else {
            return "must be the address that \(service.rawValue) gave, with \(part) in it."
        }
        return path[found.upperBound...].allSatisfy { $0 == "/" }
            ? "must not end after \(part); add the rest of the address that \(service.rawValue) gave." : nil
    }

    /// Returns what is wrong with the receiver in a service, or `nil`.
    package static func problem(ofRoom room: String, for service: ChatService) -> String? {
        service == .matrix && !room.hasPrefix("!")
            ? "must be the id of the room, which starts with !; an alias such as #room:example.org is none." : nil
    }

    /// Reads the address in a file.
    ///
    /// - Throws: ``SinkFailure`` if the file cannot be read, or has no good address.
    static func read(_ file: SecretFile, for service: ChatService) throws(SinkFailure) -> String {
        try SinkURL.read(file) { isGood($0, for: service) }
    }

    /// The URL of a request: its path below that of the address, and its parameter in place of one of that name.
    static func url(_ address: String, for request: ChatRequest) -> String {
        let parts = address.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        var url = String(parts[0])
        if !request.path.isEmpty { url = (url.hasSuffix("/") ? String(url.dropLast()) : url) + request.path }
        var parameters = parts.dropFirst().flatMap { $0.split(separator: "&") }.map(String.init)
        if let (name, value) = request.parameter {
            parameters.removeAll { $0.hasPrefix(name + "=") }
            parameters.append("\(name)=\(value)")
        }
        return parameters.isEmpty ? url : "\(url)?\(parameters.joined(separator: "&"))"
    }
}
