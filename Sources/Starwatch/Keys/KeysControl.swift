import Logging
import StarwatchCore
import StarwatchStore
import StarwatchTelemetry
import StarwatchTransport

/// The master key and the data keys of the database.
struct KeysControl: Sendable {
    let store: Store
    let pseudonym: IdentityHash
    let logger: Logger

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
