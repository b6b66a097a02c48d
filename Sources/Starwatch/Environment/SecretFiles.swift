import Foundation
package import StarwatchTransport

/// The files with secrets that the configuration names.
struct SecretFiles: Sendable {
    /// The value of `$CREDENTIALS_DIRECTORY`.
    let credentialsDirectory: String?

    /// The files of a service that systemd started, or of another process.
    static var ofProcess: SecretFiles {
        SecretFiles(credentialsDirectory: ProcessInfo.processInfo.environment["CREDENTIALS_DIRECTORY"])
    }

    /// Returns a secret's file, after a check that it is usable.
    ///
    /// - Parameters:
    ///   - setting: The setting that names the file, for errors.
    ///   - check: Checks the content.
    /// - Throws: ``AgentError`` of kind `configuration`.
    func file(
        _ path: String?,
        _ setting: String,
        check: ([UInt8]) throws(AgentError) -> Void = { _ in }
    ) throws(AgentError) -> SecretFile {
        guard let path else { throw AgentError(.configuration, "\(setting) is missing.") }
        let file = SecretFile(path: path, setting: setting, credentialsDirectory: credentialsDirectory)
        try check(file.bytes())
        return file
    }
}

extension SecretFile {
    /// The content of the file.
    ///
    /// - Throws: ``AgentError`` of kind `configuration`.
    package func bytes() throws(AgentError) -> [UInt8] {
        var file = self
        do { return try file.read() } catch { throw AgentError(.configuration, error.description) }
    }
}
