import Foundation
import Logging
import StarwatchCore
import StarwatchStore
import StarwatchTelemetry
import StarwatchTransport

/// The keys of the database: the master key, the data keys, and those that sign tokens.
struct KeysControl: Sendable {
    let auth: AuthOptions
    let account: Account
    /// Gives the keys to the token provider.
    let keys: StoredSigningKeys
    /// Has the age of the signing key.
    let seen: HealthMemory
    let pseudonym: InstallationHash

    private var store: Store { account.environment.store }
    private var logger: Logger { account.environment.logger }
    private var clock: ServerClock { account.environment.clock }

    func rotateDataKeys() async throws -> KeysReport {
        let count = try await store.keys.encrypted { () throws(StoreError) in try await store.keys.replaceDataKeys() }
        logger.log(.keysRotated, [.kind: "data", .count: .number(count)])
        return try await report()
    }

    func changeMasterKey(_ change: MasterKeyChange) async throws -> KeysReport {
        guard let key = MasterKey(text: Array(change.key.utf8)) else {
            throw ControlError(.invalid, "The key must be 32 bytes in base64.")
        }
        try await store.keys.encrypted { () throws(StoreError) in try await store.keys.changeMasterKey(to: key) }
        logger.log(.keysRotated, [.kind: "master", .count: .number(1)])
        return try await report()
    }

    func verify() async throws -> KeyVerification {
        let report = try await store.keys.encrypted { () throws(StoreError) in try await store.keys.verify() }
        return KeyVerification(
            opened: report.opened,
            failed: report.failed,
            faults: report.faults.map { KeyVerification.Fault(column: $0.column, row: $0.row) }
        )
    }

    func report() async throws -> KeysReport {
        let report = try await store.keys.report()
        return KeysReport(
            encrypted: report.masterKey != nil,
            masterKey: report.masterKey.flatMap { id in
                report.masterKeySince.map { KeysReport.MasterKey(id: id, since: $0.iso8601) }
            },
            dataKeys: report.dataKeys.map { key in
                KeysReport.DataKey(
                    id: key.id,
                    account: key.account.map(pseudonym.hash),
                    state: key.isActive ? .active : .retiring,
                    uses: key.uses,
                    createdAt: key.createdAt.iso8601
                )
            },
            signingKeys: report.signingKeys.map { KeysReport.SigningKey($0, pseudonym) }
        )
    }

    // MARK: - Signing keys

    func importKey(_ key: SigningKeyImport) async throws -> SigningKeyReport {
        guard let algorithm = auth.signingAlgorithm else {
            throw ControlError(.conflict, "auth.kind must be shared_secret or did_key; change it first.")
        }
        return try await add(key.key, kid: key.kid, algorithm, .normal)
    }

    func rotate(_ rotation: SigningKeyRotation) async throws -> SigningKeyReport {
        guard auth.kind != .didKey else {
            throw ControlError(
                .conflict,
                "The private key of a DID is the identity itself and cannot be rotated; a new key is a new identity."
            )
        }
        guard auth.kind == .sharedSecret, auth.storedKeys else {
            throw ControlError(
                .conflict,
                "The signing key is not in the database; set auth.stored_keys, or replace the key's file."
            )
        }
        let grace = rotation.emergency == true ? SigningGrace.emergency : .normal
        return try await add(rotation.key, kid: nil, .hs256, grace)
    }

    func revoke(_ revocation: SigningKeyRevocation) async throws -> SigningKeyReport {
        let isForced = revocation.force == true
        let ending = try await changingKeys {
            try await store.keys.revokeSigningKey(revocation.kid, isForced: isForced, now: clock.now)
        }
        switch ending {
        case .revoked: logger.log(.keysRevoked, [.count: .number(1)])
        case .revokedBefore: break
        case .unknown:
            throw ControlError(.notFound, "There is no signing key of that name; starwatch keys list shows them.")
        case .active:
            throw ControlError(
                .conflict,
                "That key is the active one; rotate or import a key first, or give --force to be without a token."
            )
        }
        return try await report(ofSigningKey: revocation.kid)
    }

    /// Makes a key the active one.
    ///
    /// - Parameter text: The content of a key file, in base64.
    private func add(
        _ text: String,
        kid: String?,
        _ algorithm: SigningAlgorithm,
        _ grace: SigningGrace
    ) async throws -> SigningKeyReport {
        guard let content = Base64.decode(text) else { throw ControlError(.invalid, "The key must be in base64.") }
        let did = try await account.identity.signedIn()
        let secret = try Self.secret(content, algorithm, of: did)
        let name = kid ?? SigningKeyContent.kid(of: secret)
        guard name.isPlainName else {
            throw ControlError(.invalid, "The name of a key is 1 to 64 letters, digits, '.', '_' and '-'.")
        }
        let key = SigningKey(kid: name, algorithm: algorithm, secret: secret, createdAt: clock.now)
        let result = try await changingKeys {
            try await store.keys.encrypted { () throws(StoreError) in
                try await store.keys.addSigningKey(key, of: did, grace: grace)
            }
        }
        switch result {
        case .added: logger.log(.keysRotated, [.kind: "signing", .count: .number(1)])
        case .known: break
        case .kidUsed:
            throw ControlError(
                .conflict,
                "A signing key of that name exists or existed, and a name is never used again; give another with --kid."
            )
        case .notActive: throw ControlError(.conflict, "The active identity changed meanwhile; run the command again.")
        }
        return try await report(ofSigningKey: name)
    }

    private static func secret(
        _ content: [UInt8],
        _ algorithm: SigningAlgorithm,
        of did: DID
    ) throws(ControlError) -> [UInt8] {
        do throws(TokenError) {
            return try SigningKeyContent.secret(in: content, algorithm, of: did, setting: "--file")
        } catch .keyMismatch {
            throw ControlError(.invalid, "The key is not that of the active identity; import the key of its DID.")
        } catch {
            throw ControlError(.invalid, error.description)
        }
    }

    /// Changes the keys. Tokens are then signed with the changed ones, also after a failure, because a failed commit can
    /// still have reached the disk.
    private func changingKeys<Result>(_ change: () async throws -> Result) async throws -> Result {
        do {
            let result = try await change()
            keys.noteChange()
            await noteAge()
            return result
        } catch {
            keys.noteChange()
            throw error
        }
    }

    private func report(ofSigningKey kid: String) async throws -> SigningKeyReport {
        let stored = try await store.keys.report().signingKeys
        guard let key = stored.first(where: { $0.kid == kid }) else {
            throw ControlError(.conflict, "The key was deleted meanwhile, with its identity.")
        }
        let retiring = stored.filter { $0.account == key.account && $0.state == .retiring }
        return SigningKeyReport(
            key: KeysReport.SigningKey(key, pseudonym),
            retiring: retiring.map { KeysReport.SigningKey($0, pseudonym) },
            used: auth.storedKeys
        )
    }

    /// Notes the age of the signing key. An age that cannot be read stays what it was.
    func noteAge() async {
        if auth.storedKeys {
            guard let did = try? await store.identity.active().did else { return seen.keyCreated = nil }
            guard let keys = try? await store.keys.signingKeys(of: did) else { return }
            seen.keyCreated = keys.first { $0.endsAt == nil && $0.algorithm == auth.signingAlgorithm }?.createdAt
        } else if let file = auth.keyFile ?? auth.secretFile,
            let written = try? FileManager.default.attributesOfItem(atPath: file)[.modificationDate] as? Date
        {
            seen.keyCreated = Timestamp(milliseconds: Int64(written.timeIntervalSince1970 * 1000))
        }
    }
}

extension KeysReport.SigningKey {
    init(_ key: KeyReport.SigningKey, _ pseudonym: InstallationHash) {
        self.init(
            kid: key.kid,
            algorithm: key.algorithm,
            state: key.state,
            account: pseudonym.hash(key.account),
            createdAt: key.createdAt.iso8601,
            endsAt: key.endsAt?.iso8601
        )
    }
}

extension StoreKeys {
    /// Does what needs an encrypted database.
    func encrypted<Result>(_ work: () async throws(StoreError) -> Result) async throws -> Result {
        guard await isEncrypted else {
            throw ControlError(
                .conflict,
                "The database is not encrypted; 'starwatch keys init' and 'keys encrypt-database' change that."
            )
        }
        return try await work()
    }
}
