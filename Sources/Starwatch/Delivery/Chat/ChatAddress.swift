import FoundationEssentials
import StarwatchCore
import StarwatchTransport

/// The address of a chat's service, with its rules: for the configuration, for trials, and for each request.
package enum ChatAddress {
    /// The address in the content of a file, without the space around it.
    package static func text(_ content: String) -> String {
        let isSpace = { (character: Character) in character.isWhitespace }
        var text = content[...].drop(while: isSpace)
        while text.last.map(isSpace) == true { text.removeLast() }
        return String(text)
    }

    /// The problem of an address, as the end of a sentence; `nil` for a good one.
    package static func problem(of url: String, for service: ChatService) -> String? {
        guard let parts = URLComponents(string: url), let host = parts.host, !host.isEmpty, parts.user == nil,
            let scheme = parts.scheme?.lowercased(), ["http", "https"].contains(scheme)
        else { return "must be a URL such as https://example.org." }
        guard scheme == "https" || ListenAddress.isLoopback(host) else {
            return "must start with https://; http:// is allowed to this machine only (127.0.0.1, ::1, localhost)."
        }
        guard let path = service.path, !parts.path.contains(path) else { return nil }
        return "must be the address that \(service.rawValue) gave, with \(path) in it."
    }

    /// Reads the address in a file.
    ///
    /// - Throws: ``SinkFailure`` if the file cannot be read, or has no good address.
    static func read(_ file: SecretFile, for service: ChatService) throws(SinkFailure) -> String {
        var file = file
        guard let bytes = try? file.read() else {
            throw SinkFailure("The sink's url_file cannot be read.", .tokenFile)
        }
        let url = text(String(decoding: bytes, as: UTF8.self))
        guard problem(of: url, for: service) == nil else {
            throw SinkFailure("The sink's url_file has no good address; run starwatch check.", .tokenFile)
        }
        return url
    }
}
