import Logging
package import StarwatchCore
import StarwatchStore
import StarwatchTelemetry
import StarwatchTransport

extension Agent: ServedAgent {
    package func runPoll(_ name: String, unlessWithin: Duration?) async throws(ControlError) -> PollReport {
        try await counted(.pollRun) { () async throws(ControlError) in
            guard let poll = polls.first(where: { $0.name.rawValue == name }) else {
                throw ControlError(.notFound, "There is no poll of that name; starwatch status lists them.")
            }
            let runID = RandomID.runID()
            if let unlessWithin, try await hasSucceeded(poll, within: unlessWithin) {
                var report = PollReport(poll: name, outcome: "skipped", runID: runID)
                report.reason = "recent"
                return report
            }
            let result = await runtime.pollService.pass(poll, runID: runID)
            var report = PollReport(
                poll: name,
                outcome: result.outcome?.rawValue ?? "skipped",
                runID: runID
            )
            report.reason = result.skip?.rawValue ?? result.reason
            report.fetched = result.fetched
            report.new = result.new
            let delivery = await runtime.dispatcher.pass()
            report.notifications = delivery.made
            let acknowledgement = await runtime.acknowledger.pass()
            report.acknowledged = acknowledgement.acknowledged
            report.watermarkMoved = acknowledgement.watermarkMoved
            return report
        }
    }

    /// Returns whether the active identity's last success is younger than `time`. A future success, from a clock that
    /// was ahead, does not count.
    private func hasSucceeded(_ poll: Poll, within time: Duration) async throws(ControlError) -> Bool {
        do throws(StoreError) {
            guard let did = try await store.activeIdentity().did else { return false }
            let stream = StreamKey(account: did, server: server, poll: poll.name)
            let state = try await store.pollState(stream, maxUndelivered: options.outbox.maxUndelivered)
            guard let success = state.lastSuccess else { return false }
            let age = clock.now - success
            return age >= .zero && age < time
        } catch {
            throw ControlError(error)
        }
    }

    package func identity() async throws(ControlError) -> IdentityReport {
        try await counted(.identityShow) { () async throws(ControlError) in
            do throws(StoreError) { return report(try await store.activeIdentity()) } catch {
                throw ControlError(error)
            }
        }
    }

    /// Changes the identity. Cycles of the previous one are cancelled and cannot store anything.
    package func setIdentity(_ did: DID?) async throws(ControlError) -> IdentityReport {
        try await counted(.identitySet) { () async throws(ControlError) in
            if let did {
                do throws(TokenError) { try await runtime.account.api.tokens.validate(account: did) } catch {
                    throw ControlError(.invalid, error.description)
                }
            }
            do throws(StoreError) {
                let change = try await store.setIdentity(did, server: server, now: clock.now)
                if change.changed {
                    identity.invalidate()
                    await giveUpWork()
                    await runtime.account.api.tokens.forget()
                    metrics.clock.identityChanges.increment()
                    var fields: AgentEvent.Fields = [.rowCount: .number(change.cancelledRows)]
                    process.news.publish(.identityChanged(did))
                    if let did { fields[.identity] = "\(process.pseudonym.hash(did))" }
                    logger.log(.identityChanged, fields)
                }
                return report(change.identity)
            } catch {
                // A failed commit can still have reached the disk.
                identity.invalidate()
                await giveUpWork()
                throw ControlError(error)
            }
        }
    }

    package func removeIdentity(_ did: DID) async throws(ControlError) -> IdentityRemovalReport {
        try await counted(.identityRemove) { () async throws(ControlError) in
            let removal: AccountRemoval
            do throws(StoreError) { removal = try await store.removeAccount(did, now: clock.now) } catch {
                throw ControlError(error)
            }
            switch removal {
            case .removed(let time):
                return IdentityRemovalReport(keptUntil: (time + RetentionPolicy().removed).iso8601)
            case .active: throw ControlError(.conflict, "That identity is signed in; sign out or change it first.")
            case .unknown: throw ControlError(.notFound, "Nothing is stored of that identity.")
            }
        }
    }

    /// Cancels the work in flight for a previous identity, and returns when it has ended.
    private func giveUpWork() async {
        pollManager.abort()
        await runtime.abort()
    }

    package func stars() async throws(ControlError) -> [String] {
        try await counted(.starsList) { () async throws(ControlError) in
            let did = try await signedIn()
            do throws(StoreError) { return try await store.stars(of: did) } catch { throw ControlError(error) }
        }
    }

    package func changeStars(_ change: StarsChange) async throws(ControlError) -> [String] {
        try await counted(.starsChange) { () async throws(ControlError) in
            let did = try await signedIn()
            guard change.planIDs.allSatisfy({ (1...2048).contains($0.unicodeScalars.count) }) else {
                throw ControlError(.invalid, "A plan identifier is empty or longer than 2,048 characters.")
            }
            try await checkStars(of: did, before: change.operation)
            // Needed after a failure too, because the change can be stored despite it.
            defer { identity.invalidate() }
            do throws(StoreError) {
                let (server, now) = (self.server, clock.now)
                let result =
                    switch change.operation {
                    case .set: try await store.setStars(change.planIDs, of: did, server: server, now: now)
                    case .add: try await store.addStars(change.planIDs, of: did, server: server, now: now)
                    case .remove: try await store.removeStars(change.planIDs, of: did, server: server, now: now)
                    case .optOut, .optIn:
                        try await store.setStarsOptedOut(
                            change.operation == .optOut,
                            of: did,
                            server: server,
                            now: now
                        )
                    case .restore: try await store.restoreStars(of: did, server: server, now: now)
                    }
                runtime.wakes.acknowledge.raise()
                return result.stars
            } catch { throw ControlError(error) }
        }
    }

    /// Rejects a change that would keep a part of stars that nobody can read, because it would lose the rest.
    private func checkStars(of did: DID, before operation: StarsChange.Operation) async throws(ControlError) {
        guard [.add, .remove, .restore].contains(operation) else { return }
        let areUnreadable: Bool
        do throws(StoreError) {
            areUnreadable = try await store.interests(of: did).areStarsUnreadable
        } catch { throw ControlError(error) }
        guard areUnreadable else { return }
        throw ControlError(
            .conflict,
            "The stored stars are not a list of plan identifiers, and nothing was changed; replace them with starwatch stars set."
        )
    }

    package func archivedStars() async throws(ControlError) -> [ArchivedStarsReport] {
        try await counted(.starsList) { () async throws(ControlError) in
            let did = try await signedIn()
            do throws(StoreError) {
                return try await store.archivedStars(of: did).map {
                    ArchivedStarsReport(archivedAt: $0.archivedAt.iso8601, planIDs: $0.stars)
                }
            } catch { throw ControlError(error) }
        }
    }

    package func reload() async throws(ControlError) {
        try await counted(.reload) { () async throws(ControlError) in try await reloader.reload() }
    }

    func signedIn() async throws(ControlError) -> DID {
        do throws(StoreError) {
            if let did = try await store.activeIdentity().did { return did }
        } catch { throw ControlError(error) }
        throw ControlError(.conflict, "No identity is active; set one with starwatch identity set DID.")
    }

    private func report(_ identity: ActiveIdentity) -> IdentityReport {
        IdentityReport(
            did: identity.did?.rawValue,
            generation: identity.generation,
            pseudonym: identity.did.map(process.pseudonym.hash)
        )
    }

    /// Counts a control request by its outcome.
    func counted<T: Sendable>(
        _ operation: ControlOperation,
        _ body: () async throws(ControlError) -> T
    ) async throws(ControlError) -> T {
        do {
            let value = try await body()
            metrics.controlRequests[operation, .ok].increment()
            return value
        } catch {
            metrics.controlRequests[operation, .failed].increment()
            throw error
        }
    }
}

extension ControlError {
    init(_ error: StoreError) {
        self.init(.failed, error.description)
    }
}
