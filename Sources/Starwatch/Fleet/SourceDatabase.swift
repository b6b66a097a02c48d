import StarwatchCore
import StarwatchPolling
import StarwatchStore

/// The database of an agent for one account, which does not run.
package struct SourceDatabase: Sendable {
    package let path: String
    /// The file with its master key; `nil` for a database that is not encrypted.
    package let keyFile: String?

    package init(path: String, keyFile: String?) { (self.path, self.keyFile) = (path, keyFile) }

    /// Hands out the active identity, as ``MoveControl/export(_:)`` does.
    package func export(_ export: AccountExport) async throws -> AccountExportReport {
        var options = StoreOptions(path: path)
        if let keyFile { options.masterKey = try MasterKeySource.read(keyFile, nil) }
        // Refuses an older database, which the next line would upgrade.
        var looking = options
        looking.reads = true
        await (try open(looking)).close()
        let store = try open(options)
        do {
            let handout = try await store.moves.handOut(
                try export.account(),
                isTrial: export.trial == true,
                now: SystemClock().now
            )
            await store.close()
            switch handout {
            case .text(let bundle, _, _, let lost): return AccountExportReport(bundle: bundle, lost: lost)
            case .tooLong: throw MoveControl.isTooLong
            case .delivering, .unknown: throw MoveControl.isUnknown
            }
        } catch {
            await store.close()
            throw error
        }
    }

    private func open(_ options: StoreOptions) throws -> Store {
        do throws(StoreError) {
            return try Store(options)
        } catch {
            switch error {
            case .alreadyOpen:
                throw ControlError(
                    .conflict,
                    "An agent has \(path) open, and its socket is not known; run accounts export with its --config, and import the file."
                )
            case .sealed(.noMasterKey):
                throw ControlError(.failed, "\(path) is encrypted; name the file of its master key with --from-key.")
            default: throw ControlError(.failed, "\(path): \(error.description)")
            }
        }
    }
}
