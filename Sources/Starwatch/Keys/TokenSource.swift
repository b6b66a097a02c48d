import StarwatchCore
import StarwatchPolling
import StarwatchStore
import StarwatchTransport
import Subprocess
import Synchronization

struct TokenSource {
    let options: AgentOptions
    let secrets: SecretFiles
    /// The source of keys if `auth.stored_keys` is set.
    let signingKeys: StoredSigningKeys
    let time: any TimeSource

    /// Returns what makes a provider. Each remembers tokens and keys of its own, and all have one pool.
    func maker() throws(AgentError) -> @Sendable () -> any TokenProvider {
        let (auth, signingKeys) = (options.tokens, signingKeys)
        let terms = TokenTerms(lifetime: auth.tokenLifetime, refreshBefore: auth.refreshBefore, scope: auth.scope)
        if auth.storedKeys {
            let algorithm = try algorithm(of: auth)
            return { StoredKeyTokenProvider(algorithm: algorithm, source: signingKeys, terms: terms) }
        }
        switch auth.kind {
        case .none: return { AnonymousTokenProvider() }
        case .sharedSecret:
            let file = try secrets.file(auth.secretFile, "auth.secret_file", holding: .bytes)
            return { KeyFileTokenProvider(.hs256, file: file, terms: terms) }
        case .didKey:
            let file = try secrets.file(auth.keyFile, "auth.key_file", holding: .text)
            return { KeyFileTokenProvider(.es256k, file: file, terms: terms) }
        case .tokenPool:
            let pool = TokenPoolProvider(file: try secrets.file(auth.tokensFile, "auth.tokens_file", holding: .text))
            return { pool }
        case .command:
            guard let argv = auth.argv, !argv.isEmpty else {
                throw AgentError(.configuration, "auth.kind command needs auth.argv, the program and its arguments.")
            }
            let (timeout, time) = (options.server.timeout, time)
            return {
                CommandTokenProvider(argv: argv, terms: terms) {
                    try await CommandOutput.text(of: $0, within: timeout, time: time)
                }
            }
        }
    }

    /// The algorithm of the keys of the database.
    private func algorithm(of auth: AuthOptions) throws(AgentError) -> SigningAlgorithm {
        guard let algorithm = auth.signingAlgorithm else {
            throw AgentError(.configuration, "auth.stored_keys needs auth.kind shared_secret or did_key.")
        }
        guard auth.secretFile == nil, auth.keyFile == nil else {
            throw AgentError(.configuration, "auth.stored_keys excludes auth.secret_file and auth.key_file.")
        }
        guard options.security.masterKeyFile != nil || options.security.masterKeyCommand != nil else {
            throw AgentError(.configuration, "auth.stored_keys needs a master key, as security.master_key_file.")
        }
        return algorithm
    }
}

/// The output of a program that prints a secret.
enum CommandOutput {
    /// Runs the program and returns its output. The program is ended after `timeout`, because a poll waits for it.
    static func text(
        of argv: [String],
        input: String = "",
        within timeout: Duration,
        time: any TimeSource
    ) async throws -> String {
        try await withThrowingTaskGroup(of: String.self) { group in
            group.addTask {
                let result = try await Subprocess.run(
                    .program(argv[0]),
                    arguments: Arguments(Array(argv.dropFirst())),
                    environment: .limited,
                    platformOptions: .ownGroup,
                    input: .string(input),
                    output: .string(limit: 65_536),
                    error: .discarded
                )
                guard result.terminationStatus.isSuccess else { throw TokenError.commandFailed }
                return result.standardOutput
            }
            group.addTask {
                try await time.sleep(for: timeout)
                throw TokenError.commandFailed
            }
            defer { group.cancelAll() }
            return try await group.next()!
        }
    }
}

/// The signing keys of the encrypted database, for the token provider.
final class StoredSigningKeys: SigningKeySource {
    private let store = Mutex<Store?>(nil)
    private let changes = Atomic<UInt64>(0)

    /// Sets the database. Before that there are no keys.
    func attach(_ store: Store) {
        self.store.withLock { $0 = store }
        noteChange()
    }

    /// Makes the provider read the keys again.
    func noteChange() { changes.add(1, ordering: .sequentiallyConsistent) }

    var generation: UInt64 { changes.load(ordering: .sequentiallyConsistent) }

    func keys(of account: DID) async throws(TokenError) -> [SigningKey] {
        guard let store = store.withLock({ $0 }) else { return [] }
        do throws(StoreError) { return try await store.keys.signingKeys(of: account) } catch {
            throw .signingKeysUnreadable
        }
    }
}
