import Starwatch

/// The files of master keys, as commands use them.
enum KeyFiles {
    /// Writes a new key.
    static func make(_ path: String) throws(CommandError) -> MasterKeyFile {
        guard let key = try create(path) else {
            throw .failed("\(path) exists already, and a key is never replaced; name another file.")
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
    ) throws(CommandError) -> (file: String, key: MasterKeyFile) {
        guard let current else {
            throw .failed("The database is not encrypted; 'starwatch keys encrypt-database' changes that.")
        }
        guard let path = file ?? former.map(MasterKeyFile.pendingPath) else {
            throw .usage("Name the file for the new key with --new-key-file.")
        }
        let known = try? read(path)
        if file != nil, known?.id == current {
            throw .failed("\(path) holds the master key in use; name another file for the next one.")
        }
        // With a credential or a command, the file beside the configuration is not the one that the agent reads.
        if file == nil, let former, known?.id != current, (try? read(former))?.id != current {
            throw .usage("The key in use is not in \(former); name the file for the new key with --new-key-file.")
        }
        if let key = try create(path, like: former) { return (path, key) }
        return (path, try read(path))
    }

    private static func read(_ path: String) throws(CommandError) -> MasterKeyFile {
        do throws(AgentError) { return try MasterKeyFile.read(path) } catch { throw .agent(error) }
    }

    private static func create(_ path: String, like former: String? = nil) throws(CommandError) -> MasterKeyFile? {
        do throws(AgentError) { return try MasterKeyFile.create(path, like: former) } catch { throw .agent(error) }
    }

    /// Puts the new key in the place of the former one.
    static func replace(_ path: String, with new: String) throws(CommandError) {
        do throws(AgentError) {
            try MasterKeyFile.replace(path, with: new)
        } catch {
            throw .failed(
                "The database has its new master key, which is in \(new). Put that file in the place of \(path) before "
                    + "the agent starts again."
            )
        }
    }

    /// Reads a key file to import.
    static func content(of path: String) throws(CommandError) -> [UInt8] {
        do throws(AgentError) { return try SigningKeyFile.read(path) } catch { throw .agent(error) }
    }

    /// Makes a new shared secret, hands it to `use`, and then gives its file the name `path`.
    static func rotating(
        to path: String,
        _ use: (SigningKeyFile.Rotation) async throws(CommandError) -> SigningKeyReport
    ) async throws(CommandError) -> SigningKeyReport {
        let rotation: SigningKeyFile.Rotation
        do throws(AgentError) { rotation = try SigningKeyFile.Rotation(to: path) } catch { throw .agent(error) }
        let report: SigningKeyReport
        do throws(CommandError) {
            report = try await use(rotation)
        } catch {
            // After any other error the agent can have the secret.
            if case .control(let refusal) = error, [.conflict, .invalid].contains(refusal.kind) { rotation.discard() }
            throw error
        }
        do throws(AgentError) { try rotation.finish() } catch { throw .agent(error) }
        return report
    }

    /// Converts the database of the configuration.
    static func converted(
        _ access: AgentAccess,
        _ conversion: (AgentOptions) async throws(AgentError) -> DatabaseEncryption.Report
    ) async throws(CommandError) -> DatabaseEncryption.Report {
        let options = try access.configuration().options
        do throws(AgentError) { return try await conversion(options) } catch { throw .agent(error) }
    }
}
