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
    }

    /// Encrypts the database with the configured master key.
    ///
    /// - Throws: ``AgentError``. The database is then unchanged.
    package static func encrypt(_ options: AgentOptions) async throws(AgentError) -> Report {
        let key = try await masterKey(options)
        do throws(StoreError) {
            // Also finishes an encryption that was interrupted.
            let store = try Store(storeOptions(options, key))
            await store.close()
            return Report(result: .alreadyEncrypted, rows: 0)
        } catch {
            guard error == .sealed(.notEncrypted) else { throw AgentError(.configuration, sentence(error)) }
        }
        let rows = try await convert(options, nil) { store throws(StoreError) in try await store.encrypt(with: key) }
        return Report(result: .encrypted, rows: rows)
    }

    /// Decrypts the database and destroys its keys. The setting of the master key must then be removed.
    ///
    /// - Parameter isForced: Whether to destroy signing keys. Without it, a database that has any is refused.
    /// - Throws: ``AgentError``. The database is then unchanged.
    package static func decrypt(_ options: AgentOptions, isForced: Bool) async throws(AgentError) -> Report {
        let key = try await masterKey(options)
        let rows = try await convert(options, key) { store throws(StoreError) in
            try await store.decrypt(isForced: isForced)
        }
        return Report(result: .decrypted, rows: rows)
    }

    private static func convert(
        _ options: AgentOptions,
        _ key: MasterKey?,
        _ work: (Store) async throws(StoreError) -> Int
    ) async throws(AgentError) -> Int {
        do throws(StoreError) {
            let store = try Store(storeOptions(options, key))
            do throws(StoreError) {
                let rows = try await work(store)
                await store.close()
                return rows
            } catch {
                await store.close()
                throw error
            }
        } catch {
            throw AgentError(.configuration, sentence(error))
        }
    }

    private static func masterKey(_ options: AgentOptions) async throws(AgentError) -> MasterKey {
        guard FileManager.default.fileExists(atPath: options.storage.path) else {
            throw AgentError(.configuration, "There is no database at \(options.storage.path); correct storage.path.")
        }
        let source = MasterKeySource(
            options.security,
            credentialsDirectory: ProcessInfo.processInfo.environment["CREDENTIALS_DIRECTORY"],
            time: SystemClock()
        )
        guard let key = try await source.read() else {
            throw AgentError(
                .configuration,
                "No master key is configured; make one with 'starwatch keys init' and set security.master_key_file."
            )
        }
        return key
    }

    private static func storeOptions(_ options: AgentOptions, _ key: MasterKey?) -> StoreOptions {
        var store = StoreOptions(path: options.storage.path)
        store.owner = options.storage.owner == .agent ? .agent : .host
        store.masterKey = key
        return store
    }

    /// The reason as a sentence of its own.
    private static func sentence(_ error: StoreError) -> String {
        let text = error.description
        return text.prefix(1).uppercased() + text.dropFirst() + "."
    }
}
