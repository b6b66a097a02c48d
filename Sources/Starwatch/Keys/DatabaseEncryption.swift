import Foundation
import StarwatchCore
import StarwatchPolling
import StarwatchStore

/// Encrypting and decrypting the database of an agent that does not run.
package enum DatabaseEncryption {
    /// The outcome of a conversion.
    package enum Result: String, Sendable, Codable {
        case encrypted, decrypted
        /// The database is encrypted already, or was new.
        case alreadyEncrypted = "already_encrypted"
    }

    /// The outcome, with the number of changed rows.
    package struct Report: Sendable, Encodable {
        package let result: Result
        package let rows: Int
        /// The number of values that did not open and are lost, by `table.column`; `nil` if there are none.
        package var lost: [String: Int]?

        /// The lost values as a sentence with advice; `nil` if there are none.
        package var loss: String? { lost?.lossSentence() }
    }

    /// Reads the configured master key.
    ///
    /// - Returns: `nil` if none is configured.
    package static func key(of options: SecurityOptions) async throws(AgentError) -> DatabaseKey? {
        try await MasterKeySource(options: options, time: SystemClock()).read().map(DatabaseKey.init)
    }

    /// The encryption of a file.
    package enum Stored: Sendable, Hashable {
        /// There is no database yet.
        case absent
        /// It has no data of an account. The first start with a master key encrypts it.
        case empty
        case clear
        /// Encrypted with the master key of that id.
        case encrypted(key: String)
    }

    /// Reads how the file of a database is encrypted. Needs no key.
    package static func stored(at path: String) throws(AgentError) -> Stored {
        do {
            let stored = try StoreOptions(path: path).storedMasterKey()
            return stored.key.map { .encrypted(key: $0) } ?? (stored.hasData ? .clear : .empty)
        } catch {
            if error == .absent { return .absent }
            throw AgentError.database(error, sentence(error))
        }
    }

    /// Encrypts the database with the configured master key.
    ///
    /// - Throws: ``AgentError``. The database is then unchanged, or the next run rewrites its file.
    package static func encrypt(_ options: AgentOptions, by caller: String) async throws(AgentError) -> Report {
        let source = try source(options)
        let key = try await masterKey(source)
        var store = StoreOptions(options.storage)
        store.masterKey = key
        do throws(StoreError) {
            // Also finishes an encryption that was interrupted.
            try await source.open(store).close()
            return Report(result: .alreadyEncrypted, rows: 0)
        } catch {
            guard error == .sealed(.notEncrypted) else { throw AgentError.database(error, sentence(error)) }
        }
        store.masterKey = nil
        let rows = try await convert(store, source) { store throws(StoreError) in
            let rows = try await store.keys.encrypt(with: key)
            await note("keys.encrypt-database", by: caller, in: store)
            return rows
        }
        return Report(result: .encrypted, rows: rows)
    }

    /// Decrypts the database and destroys its keys. The setting of the master key must then be removed.
    ///
    /// - Parameter isForced: Whether to destroy signing keys. Without it, a database that has any is refused.
    /// - Throws: ``AgentError``. The database is then unchanged.
    package static func decrypt(
        _ options: AgentOptions,
        isForced: Bool,
        by caller: String
    ) async throws(AgentError) -> Report {
        let source = try source(options)
        var store = StoreOptions(options.storage)
        store.optionalSinks = Set(options.delivery.sinks.filter { !$0.isRequired }.map(\.name))
        store.masterKey = try await masterKey(source)
        let result = try await convert(store, source) { store throws(StoreError) in
            let result = try await store.keys.decrypt(isForced: isForced)
            await note("keys.decrypt-database", by: caller, in: store)
            return result
        }
        return Report(result: .decrypted, rows: result.rows, lost: result.lost.isEmpty ? nil : result.lost)
    }

    /// Notes in the journal who converted the database, which is converted even if that cannot be stored.
    private static func note(_ verb: String, by caller: String, in store: Store) async {
        let now = SystemClock().now
        try? await store.journal.append([JournalEntry(at: now, .action, by: caller, verb: verb, result: "ok")])
    }

    private static func convert<Result: Sendable>(
        _ options: StoreOptions,
        _ source: MasterKeySource,
        _ work: (Store) async throws(StoreError) -> Result
    ) async throws(AgentError) -> Result {
        do throws(StoreError) {
            let store = try source.open(options)
            do throws(StoreError) {
                let result = try await work(store)
                await store.close()
                return result
            } catch {
                await store.close()
                throw error
            }
        } catch {
            throw AgentError.database(error, sentence(error))
        }
    }

    private static func source(_ options: AgentOptions) throws(AgentError) -> MasterKeySource {
        guard FileManager.default.fileExists(atPath: options.storage.path) else {
            throw AgentError(.configuration, "There is no database at \(options.storage.path); correct storage.path.")
        }
        return MasterKeySource(options: options.security, time: SystemClock())
    }

    private static func masterKey(_ source: MasterKeySource) async throws(AgentError) -> MasterKey {
        guard let key = try await source.read() else {
            throw AgentError(
                .configuration,
                "No master key is configured; make one with 'starwatch keys init' and set security.master_key_file."
            )
        }
        return key
    }

    /// The reason as a sentence of its own.
    private static func sentence(_ error: StoreError) -> String {
        let text = error.description
        return text.prefix(1).uppercased() + text.dropFirst() + "."
    }
}
