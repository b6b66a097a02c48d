import Starwatch

/// The files of master keys, as commands use them.
enum KeyFiles {
    /// The advice to keep a copy of a master key, as sentences. Helps and pages refer to it.
    ///
    /// - Parameter what: What to copy, as the object of a sentence.
    static func copyAdvice(_ what: String) -> String {
        "Copy \(what) to a password manager now, not to the backup of the database. Without this key the database cannot be read."
    }

    /// Writes a new key.
    static func make(_ path: String) throws -> MasterKeyFile {
        guard !SealedCredential(of: path).exists, let key = try MasterKeyFile.create(path, like: nil) else {
            throw CommandError.failed("\(path) exists already, and a key is never replaced; name another file.")
        }
        return key
    }

    /// Writes a new master key, or reads the one of an earlier run that was interrupted.
    ///
    /// - Parameters:
    ///   - file: The file that the user named.
    ///   - former: The configured file; `nil` if there is none.
    ///   - current: The id of the master key in use; `nil` if the database is not encrypted.
    /// - Returns: The key and its file.
    static func newMasterKey(
        _ file: String?,
        _ former: String?,
        current: String?
    ) throws -> (file: String, key: MasterKeyFile) {
        guard let current else {
            throw CommandError.failed("The database is not encrypted; 'starwatch keys encrypt-database' changes that.")
        }
        guard let path = file ?? former.map(MasterKeyFile.pendingPath) else {
            throw CommandError.usage("Name the file for the new key with --new-key-file.")
        }
        let known = try? MasterKeyFile.read(path)
        if file != nil, known?.id == current {
            throw CommandError.failed("\(path) holds the master key in use; name another file for the next one.")
        }
        // With a credential or a command, the file beside the configuration is not the one that the agent reads.
        if file == nil, let former, known?.id != current, (try? MasterKeyFile.read(former))?.id != current {
            throw CommandError.usage(
                "The key in use is not in \(former); name the file for the new key with --new-key-file."
            )
        }
        if let key = try MasterKeyFile.create(path, like: former) { return (path, key) }
        return (path, try MasterKeyFile.read(path))
    }

    /// Puts the new key in the place of the former one.
    static func replace(_ path: String, with new: String) throws(CommandError) {
        do throws(AgentError) {
            try MasterKeyFile.replace(path, with: new)
        } catch {
            throw CommandError.failed(
                "The database has its new master key, which is in \(new). Put that file in the place of \(path) before "
                    + "the agent starts again."
            )
        }
    }

    /// Makes a new shared secret, hands its content to `use`, and then gives its file the name `path`.
    static func rotating(
        to path: String,
        _ use: ([UInt8]) async throws -> SigningKeyReport
    ) async throws -> SigningKeyReport {
        let rotation = try SigningKeyFile(to: path)
        let report: SigningKeyReport
        do {
            report = try await use(rotation.content)
        } catch {
            // After any other error the agent can have the secret.
            if let refusal = error as? ControlError, [.conflict, .invalid].contains(refusal.kind) {
                rotation.discard()
            }
            throw error
        }
        try rotation.finish()
        return report
    }
}
