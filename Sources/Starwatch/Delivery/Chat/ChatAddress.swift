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
        var file = file
        guard let bytes = try? file.read() else {
            throw SinkFailure("The sink's url_file cannot be read.", .tokenFile)
        }
        let url = String(decoding: bytes, as: UTF8.self).trimmingSpaces
        guard isGood(url, for: service) else {
            throw SinkFailure("The sink's url_file has no good address; run starwatch check.", .tokenFile)
        }
        return url
    }
}
