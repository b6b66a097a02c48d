import FoundationEssentials
import StarwatchCore
import StarwatchTransport

/// The address of a chat's service, with its rules for trials and for each request. A file can change after the start.
package enum ChatAddress {
    /// Whether requests may go to an address: over TLS or to this machine, and to the service's own path.
    static func isGood(_ url: String, for service: ChatService) -> Bool {
        SinkURL.isGood(url) && hasPath(url, of: service)
    }

    /// Whether the path of an address is that of the service.
    package static func hasPath(_ url: String, of service: ChatService) -> Bool {
        guard let path = service.path else { return true }
        return URLComponents(string: url)?.path.contains(path) == true
    }

    /// Reads the address in a file.
    ///
    /// - Throws: ``SinkFailure`` if the file cannot be read, or has no good address.
    static func read(_ file: SecretFile, for service: ChatService) throws(SinkFailure) -> String {
        try SinkURL.read(file) { isGood($0, for: service) }
    }
}
