import StarwatchCore
import StarwatchPolling
import StarwatchStore
import StarwatchTransport

/// The moves of accounts from one agent to another. Both can work for one account or for many.
struct MoveControl: Sendable {
    /// The longest wait for a sink's answer.
    private static let longestDelivery = Duration.seconds(60)
    private static let step = Duration.milliseconds(100)

    let identity: IdentityControl
    /// The accounts of a process that serves many; `nil` for one that serves the active identity.
    let accounts: AccountsControl?
    let sinks: Set<String>
    let polls: Set<PollName>
    /// Whether a host program owns the database.
    let isOfHost: Bool
    let keys: StoredSigningKeys

    private var store: Store { identity.store }
    private var environment: Environment { identity.environment }
    private var server: String { identity.account.server }
    private var wakes: WakeSignals { identity.account.wakes }

    /// Hands out an account, and ends its work. Waits for the answers of sinks that have a notification now.
    func export(_ export: AccountExport) async throws -> AccountExportReport {
        try checkOwner()
        let (account, isTrial) = (try export.account(), export.trial == true)
        if account == nil, accounts != nil {
            throw ControlError(.invalid, "This agent works for many accounts; name the one to export.")
        }
        let end = environment.time.monotonic + Self.longestDelivery
        var leaving: DID?
        do {
            while true {
                // Not another identity that was set meanwhile.
                let handout = try await store.moves.handOut(
                    leaving ?? account,
                    isTrial: isTrial,
                    now: environment.clock.now
                )
                switch handout {
                case .text(let bundle, let did, let isNew, let lost):
                    if isNew, !isTrial {
                        await followExport(of: did)
                        store.moves.stay(did)
                    }
                    return AccountExportReport(bundle: bundle, lost: lost)
                case .delivering(let did):
                    leaving = did
                    guard environment.time.monotonic < end else { throw Self.isDelivering }
                    try await environment.time.sleep(for: Self.step)
                case .tooLong: throw Self.isTooLong
                case .unknown: throw Self.isUnknown
                }
            }
        } catch {
            if let leaving { await stay(leaving) }
            throw error
        }
    }

    /// Continues the deliveries that stopped for an export.
    private func stay(_ did: DID) async {
        store.moves.stay(did)
        guard let accounts else { return wakes.dispatch.raise() }
        await accounts.noteChange(of: did)
    }

    private func followExport(of did: DID) async {
        keys.noteChange()
        guard let accounts else { return await identity.follow(to: nil, cancelledRows: 0) }
        await accounts.endWork(did)
        accounts.note("exported", 1)
    }

    /// Takes in an account, and begins its work.
    func take(_ request: AccountImport) async throws -> AccountImportReport {
        try checkOwner()
        guard request.bundle.utf8.count <= AccountBundle.longestText else {
            throw ControlError(.invalid, MoveProblem.unreadable.sentence(server: server))
        }
        let bundle: AccountBundle
        do throws(MoveProblem) { bundle = try AccountBundle(text: request.bundle) } catch {
            throw ControlError(.invalid, error.sentence(server: server))
        }
        let (did, isTrial) = (bundle.account, request.trial == true)
        var problems = addressProblems(of: bundle)
        if accounts != nil, try await !store.accounts.served(among: did.otherSpellings).isEmpty {
            problems.append(ControlError.isServedOtherwise.message)
        }
        guard problems.isEmpty else {
            let pseudonym = identity.pseudonym.hash(did)
            return AccountImportReport(result: "refused", pseudonym: pseudonym, problems: problems, warnings: [])
        }
        let arrival = try await store.moves.take(
            bundle,
            of: did,
            into: AccountDestination(
                server: server,
                sinks: sinks,
                addressed: Set(addressedSinks.map(\.name)),
                pseudonym: accounts.map { _ in identity.pseudonym.hash(did) }
            ),
            isUndo: request.undo == true,
            isTrial: isTrial,
            now: environment.clock.now,
            dueAt: environment.time.now
        )
        if arrival == .arrived, !isTrial { await followImport(of: did) }
        var report = AccountImportReport(
            result: arrival.word(isTrial: isTrial),
            pseudonym: identity.pseudonym.hash(did),
            problems: [],
            warnings: []
        )
        if case .refused(let problems) = arrival { report.problems = problems.map { $0.sentence(server: server) } }
        let missing = bundle.polls.subtracting(polls).map(\.rawValue).sorted()
        if !missing.isEmpty {
            report.warnings.append(
                "This agent lacks the polls \(missing.joined(separator: ", ")) of the account; add them."
            )
        }
        let leftOut = Set(bundle.addresses.map(\.sink)).subtracting(addressedSinks.map(\.name)).sorted()
        if !leftOut.isEmpty {
            report.warnings.append(
                """
                No sink here takes the account's addresses for \(leftOut.joined(separator: ", ")), so they were left out; \
                add such a sink, then give the addresses to starwatch accounts add.
                """
            )
        }
        if let loss = bundle.lost?.lossSentence() { report.warnings.append(loss) }
        return report
    }

    /// The sinks that take an address of an account.
    private var addressedSinks: [SinkOptions] { accounts?.sinks.filter(\.isOfAccounts) ?? [] }

    /// The mistakes in the addresses of a bundle, which anybody can have changed.
    private func addressProblems(of bundle: AccountBundle) -> [String] {
        bundle.addresses.compactMap { name, address in
            guard let sink = addressedSinks.first(where: { $0.name == name }) else { return nil }
            guard let address else { return MoveProblem.unusable.sentence(server: server) }
            return sink.problem(of: address)
        }
    }

    private func followImport(of did: DID) async {
        keys.noteChange()
        if let accounts { return accounts.note("imported", 1) }
        await identity.follow(to: did, cancelledRows: 0)
        // Its notifications, and rows to acknowledge, have come with it.
        wakes.dispatch.raise()
        wakes.acknowledge.raise()
    }

    private func checkOwner() throws(ControlError) {
        guard isOfHost else { return }
        throw ControlError(.conflict, "The database belongs to a host program, so no account can move from or to it.")
    }

    private static let isDelivering = ControlError(
        .busy,
        "A sink has a notification of the account and does not answer; try again in a minute."
    )
    static let isTooLong = ControlError(
        .failed,
        "The account has more than 32 MiB of rows, which cannot move at once; deliver or discard some, or wait for retention."
    )
    static let isUnknown = ControlError(
        .notFound,
        "This agent does not serve that account; see starwatch accounts list, or starwatch identity show."
    )
}

extension AccountArrival {
    fileprivate func word(isTrial: Bool) -> String {
        switch self {
        case .arrived: isTrial ? "possible" : "imported"
        case .known: "known"
        case .refused: "refused"
        }
    }
}

extension MoveProblem {
    fileprivate func sentence(server own: String) -> String {
        switch self {
        case .unreadable: "That is no file of starwatch accounts export, or it is cut off; export the account again."
        case .otherVersion:
            "Another version of starwatch exported the account; upgrade both agents to one version, then export it again."
        case .served: "This agent serves the account already; export or remove it here first."
        case .otherIdentity:
            "This agent works for another identity; sign it out first, or import into an agent with accounts: many."
        case .outdated:
            "The account has moved again since this file was made; export it from the agent that serves it now."
        case .handedOut(let time):
            """
            This agent exported the account with this file at \(time.iso8601). If another agent has imported it, both would \
            announce each change: export it there instead. If none has, repeat with --undo.
            """
        case .server(let server): "The account's server is \(server), and this agent's is \(own); change server.url."
        case .sinks(let names):
            """
            Notifications wait for sinks that this agent lacks (\(names.joined(separator: ", "))); configure them here, or \
            deliver or discard the notifications at the source.
            """
        case .needsEncryption:
            "The account has signing keys, which only an encrypted database keeps; run starwatch keys encrypt-database first."
        case .ahead:
            "The account's place at the server is over a day ahead of this machine's clock; set the clock, or export it again."
        case .unusable:
            "The file was changed, or another account here has a signing key of the same name; export the account again."
        }
    }
}
