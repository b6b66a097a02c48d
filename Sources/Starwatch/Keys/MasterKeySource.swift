import Foundation
import Glibc
import StarwatchCore
import StarwatchPolling
import StarwatchStore
import StarwatchTransport

/// The configured place of the master key.
struct MasterKeySource: Sendable {
    let options: SecurityOptions
    var secrets = SecretFiles.ofProcess
    let time: any TimeSource

    /// Reads the key.
    ///
    /// - Returns: `nil` if none is configured.
    /// - Throws: ``AgentError`` if the file or the command gives no key.
    func read() async throws(AgentError) -> MasterKey? {
        if let key = options.masterKey { return key.master }
        if let path = options.masterKeyFile {
            let credential = SealedCredential(of: path)
            if credential.replacesFile { return try await credential.open().master }
            return try Self.read(path, secrets.credentialsDirectory)
        }
        guard let argv = options.masterKeyCommand else { return nil }
        let output: String
        do { output = try await CommandOutput.text(of: argv, within: .seconds(30), time: time) } catch {
            throw AgentError(
                .configuration,
                "The command of security.master_key_command failed; run it by hand to see why. Nothing was written."
            )
        }
        guard let key = MasterKey(text: Array(output.utf8)) else {
            throw AgentError(
                .configuration,
                "The command of security.master_key_command must print 32 bytes in base64 on one line."
            )
        }
        return key
    }

    /// Opens a database. If a change of the master key was interrupted after the database had it, the new key is used
    /// and takes its place.
    func open(_ options: StoreOptions) throws(StoreError) -> Store {
        do throws(StoreError) {
            return try Store(options)
        } catch {
            guard case .sealed(.otherMasterKey(let found, _)) = error, let pending = pending(), pending.id == found
            else {
                throw error
            }
            var options = options
            options.masterKey = pending
            let store = try Store(options)
            adoptPending()
            return store
        }
    }

    /// The key that a rotation has written beside the file of the former one; `nil` if there is none.
    private func pending() -> MasterKey? {
        options.masterKeyFile.flatMap {
            try? Self.read(MasterKeyFile.pendingPath(of: $0), secrets.credentialsDirectory)
        }
    }

    /// Moves the pending key to the place of the former one, if that is allowed.
    private func adoptPending() {
        guard let path = options.masterKeyFile else { return }
        _ = try? MasterKeyFile.replace(path, with: MasterKeyFile.pendingPath(of: path))
    }

    /// The user whose files are accepted. Root also reads the key of a service that it manages.
    private static func reader(of path: String) -> UInt32 {
        geteuid() == 0 ? FileAccess(path: path)?.owner ?? 0 : geteuid()
    }

    /// The key that opens a database: the configured one, or the pending one of a rotation that was interrupted after the
    /// database had it.
    ///
    /// - Parameter id: The id of the database's master key.
    func read(for id: String?) async throws(AgentError) -> MasterKey? {
        let key = try await read()
        guard let id, key?.id != id, let pending = pending(), pending.id == id else { return key }
        return pending
    }

    /// Reads the key in a file.
    static func read(_ path: String, _ credentialsDirectory: String?) throws(AgentError) -> MasterKey {
        let setting = "security.master_key_file"
        let file = SecretFile(
            path: path,
            setting: setting,
            holding: .text,
            credentialsDirectory: credentialsDirectory,
            limitBytes: 4096,
            reader: SecretReader(user: reader(of: path))
        )
        guard let key = MasterKey(text: try file.bytes()) else {
            throw AgentError(
                .configuration,
                "\(setting) must hold 32 bytes in base64 on one line; 'starwatch keys init' makes such a file."
            )
        }
        return key
    }
}

/// A master key that is in a file.
package struct MasterKeyFile: Sendable {
    /// The name of the key, which does not reveal it.
    package let id: String
    /// The key in base64.
    package let text: String

    private init(_ key: MasterKey) { (id, text) = (key.id, key.text) }

    /// Writes a new key to a new file of mode 0600 that survives a power loss.
    ///
    /// - Parameter former: A file whose owner and mode the new one gets; `nil` for those of the caller.
    /// - Returns: `nil` if the file exists already; it is then unchanged.
    package static func create(_ path: String, like former: String? = nil) throws(AgentError) -> MasterKeyFile? {
        let key = MasterKey()
        return try KeyFile.create(path, key.text, like: former) ? MasterKeyFile(key) : nil
    }

    /// Reads the key in a file.
    ///
    /// - Throws: ``AgentError`` if others can read the file, or if it holds no key.
    package static func read(_ path: String) throws(AgentError) -> MasterKeyFile {
        MasterKeyFile(try MasterKeySource.read(path, nil))
    }

    /// The file in which a rotation keeps the new key until the database uses it.
    package static func pendingPath(of path: String) -> String { path + ".next" }

    /// Replaces a key file with another one, atomically.
    package static func replace(_ path: String, with new: String) throws(AgentError) {
        try KeyFile.replace(path, with: new)
    }
}

extension StoreOptions {
    /// The options for the configured database.
    init(_ storage: StorageOptions) {
        self.init(path: storage.path)
        owner = storage.owner == .agent ? .agent : .host
        keepBeforeUpgrade = storage.keepBeforeUpgrade
    }
}
