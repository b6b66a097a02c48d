import StarwatchTransport

/// The secret of a sink.
enum SinkSecret: Sendable {
    /// In a file, which is read before every request.
    case file(SecretFile)
    /// Brought by an account.
    case value(String)

    /// - Throws: ``TokenError`` if the file cannot be used.
    func read() throws(TokenError) -> [UInt8] {
        switch self {
        case .file(var file): try file.read()
        case .value(let text): Array(text.utf8)
        }
    }
}
