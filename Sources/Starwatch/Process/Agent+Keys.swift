import Logging
package import StarwatchCore
import StarwatchStore
import StarwatchTelemetry
import StarwatchTransport

/// The keys of the database.
extension Agent {
    package func keys() async throws(ControlError) -> KeysReport {
        try await counted(.read) { try await keysReport() }
    }

    package func rotateDataKeys() async throws(ControlError) -> KeysReport {
        try await counted(.keysRotate) {
            let count = try await encrypted { () throws(StoreError) in try await store.replaceDataKeys() }
            logger.log(.keysRotated, [.kind: "data", .count: .number(count)])
            return try await keysReport()
        }
    }

    package func changeMasterKey(to text: String) async throws(ControlError) -> KeysReport {
        guard let key = MasterKey(text: Array(text.utf8)) else {
            throw ControlError(.invalid, "The key must be 32 bytes in base64.")
        }
        return try await counted(.keysRotate) {
            try await encrypted { () throws(StoreError) in try await store.changeMasterKey(to: key) }
            logger.log(.keysRotated, [.kind: "master", .count: .number(1)])
            return try await keysReport()
        }
    }

    package func verifyKeys() async throws(ControlError) -> KeyVerification {
        try await counted(.read) {
            let report = try await encrypted { () throws(StoreError) in try await store.verifyEncryption() }
            return KeyVerification(
                opened: report.opened,
                failed: report.failed,
                faults: report.faults.map { KeyVerification.Fault(column: $0.column, row: $0.row) }
            )
        }
    }

    package func eraseIdentity(_ did: DID) async throws(ControlError) -> IdentityErasureReport {
        try await counted(.identityErase) {
            switch try await store.eraseAccount(did) {
            case .erased(let isPurged):
                await process.gates.noteErased(did)
                logger.log(.identityErased, [.identity: "\(process.pseudonym.hash(did))"])
                return IdentityErasureReport(purged: isPurged)
            case .active: throw ControlError(.conflict, "That identity is signed in; sign out or change it first.")
            case .unknown: throw ControlError(.notFound, "Nothing is stored of that identity.")
            }
        }
    }

    private func keysReport() async throws(StoreError) -> KeysReport {
        let report = try await store.keyReport()
        return KeysReport(
            isEncrypted: report.masterKey != nil,
            masterKey: report.masterKey.flatMap { id in
                report.masterKeySince.map { KeysReport.MasterKey(id: id, since: $0.iso8601) }
            },
            dataKeys: report.dataKeys.map { key in
                KeysReport.DataKey(
                    id: key.id,
                    account: key.account.map(process.pseudonym.hash),
                    state: key.isActive ? .active : .retiring,
                    uses: key.uses,
                    createdAt: key.createdAt.iso8601
                )
            },
            signingKeys: report.signingKeys.map { KeysReport.SigningKey($0, process.pseudonym) }
        )
    }

    /// Does what needs an encrypted database.
    func encrypted<Result>(
        _ work: () async throws(StoreError) -> Result
    ) async throws -> Result {
        guard await store.isEncrypted else {
            throw ControlError(
                .conflict,
                "The database is not encrypted; 'starwatch keys init' and 'keys encrypt-database' change that."
            )
        }
        return try await work()
    }
}
