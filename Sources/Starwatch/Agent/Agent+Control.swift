import Logging
package import StarwatchCore
import StarwatchStore
import StarwatchTelemetry
import StarwatchTransport

extension Agent: AgentControl {
    /// Runs one cycle with delivery and acknowledgement, whatever the schedule says.
    package func runPoll(_ name: String) async throws(ControlError) -> PollReport {
        try await counted(.pollRun) { () async throws(ControlError) in
            guard let poll = polls.first(where: { $0.name.rawValue == name }) else {
                throw ControlError(.notFound, "There is no poll of that name; starwatch status lists them.")
            }
            let runID = RandomID.runID()
            let result = await pollService.pass(poll, runID: runID)
            var report = PollReport(
                poll: name,
                outcome: result.outcome?.rawValue ?? "skipped",
                runID: runID
            )
            report.reason = result.skip?.rawValue ?? result.reason
            report.fetched = result.fetched
            report.new = result.new
            let delivery = await dispatcher.pass()
            report.notifications = delivery.made
            let acknowledgement = await acknowledger.pass()
            report.acknowledged = acknowledgement.acknowledged
            report.watermarkMoved = acknowledgement.watermarkMoved
            return report
        }
    }

    package func outboxList(state: String?) async throws(ControlError) -> [OutboxEntry] {
        try await counted(.outboxList) { () async throws(ControlError) in
            var filter = OutboxFilter()
            filter.limit = OutboxEntry.listLimit
            filter.isNewestFirst = true
            if let state {
                guard let state = OutboxState(rawValue: state) else {
                    let words = OutboxState.allCases.map(\.rawValue).joined(separator: ", ")
                    throw ControlError(.invalid, "There is no such state; use one of \(words).")
                }
                filter.states = [state]
            }
            do throws(StoreError) { return try await store.outbox(filter).map(OutboxEntry.init) } catch {
                throw ControlError(error)
            }
        }
    }

    package func outboxShow(_ id: Int64) async throws(ControlError) -> OutboxEntry {
        try await counted(.outboxShow) { () async throws(ControlError) in
            do throws(StoreError) {
                if let detail = try await store.outboxRow(id) { return OutboxEntry(detail.row) }
            } catch { throw ControlError(error) }
            throw ControlError(.notFound, "There is no row with that id; starwatch outbox list shows them.")
        }
    }

    package func outboxRetry(_ ids: [Int64]) async throws(ControlError) -> Int {
        try await counted(.outboxRetry) { () async throws(ControlError) in
            do throws(StoreError) {
                let count = try await store.retry(ids, now: clock.now)
                if count > 0 { hasStored.raise() }
                return count
            } catch { throw ControlError(error) }
        }
    }

    package func outboxDiscard(_ ids: [Int64]) async throws(ControlError) -> Int {
        try await counted(.outboxDiscard) { () async throws(ControlError) in
            do throws(StoreError) { return try await store.discard(ids, now: clock.now) } catch {
                throw ControlError(error)
            }
        }
    }

    package func identity() async throws(ControlError) -> IdentityReport {
        try await counted(.identityShow) { () async throws(ControlError) in
            do throws(StoreError) { return report(try await store.activeIdentity()) } catch {
                throw ControlError(error)
            }
        }
    }

    /// Changes the identity. Cycles under way for the former one are given up and cannot store anything.
    package func setIdentity(_ did: DID?) async throws(ControlError) -> IdentityReport {
        try await counted(.identitySet) { () async throws(ControlError) in
            if let did {
                do throws(TokenError) { try await caller.tokens.validate(account: did) } catch {
                    throw ControlError(.invalid, error.description)
                }
            }
            do throws(StoreError) {
                let change = try await store.setIdentity(did, server: caller.gate.server, now: clock.now)
                if change.changed {
                    identity.invalidate()
                    await giveUpWork()
                    await caller.tokens.forget()
                    metrics.clock.identityChanges.increment()
                    var fields: AgentEvent.Fields = [.rowCount: .number(change.cancelledRows)]
                    if let did { fields[.identity] = "\(pseudonym.hash(did))" }
                    logger.log(.identityChanged, fields)
                }
                return report(change.identity)
            } catch { throw ControlError(error) }
        }
    }

    /// Gives up what is under way for a former identity, and returns when nothing of it runs any more.
    private func giveUpWork() async {
        async let cycles: Void = pollService.abort()
        async let deliveries: Void = dispatcher.abort()
        async let acknowledgements: Void = acknowledger.abort()
        _ = await (cycles, deliveries, acknowledgements)
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
            guard change.planIDs.allSatisfy({ !$0.isEmpty && $0.utf8.count <= 2048 }) else {
                throw ControlError(.invalid, "A plan identifier is empty or longer than 2,048 bytes.")
            }
            do throws(StoreError) {
                let (server, now) = (caller.gate.server, clock.now)
                let result =
                    switch change.operation {
                    case .set: try await store.setStars(change.planIDs, of: did, server: server, now: now)
                    case .add: try await store.addStars(change.planIDs, of: did, server: server, now: now)
                    case .remove: try await store.removeStars(change.planIDs, of: did, server: server, now: now)
                    case .restore: try await store.restoreStars(of: did, server: server, now: now)
                    }
                identity.invalidate()
                hasDelivered.raise()
                return result.stars
            } catch { throw ControlError(error) }
        }
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

    private func signedIn() async throws(ControlError) -> DID {
        do throws(StoreError) {
            if let did = try await store.activeIdentity().did { return did }
        } catch { throw ControlError(error) }
        throw ControlError(.conflict, "No identity is active; set one with starwatch identity set DID.")
    }

    private func report(_ identity: ActiveIdentity) -> IdentityReport {
        IdentityReport(
            did: identity.did?.rawValue,
            generation: identity.generation,
            pseudonym: identity.did.map(pseudonym.hash)
        )
    }

    /// Counts a control request by how it ended.
    private func counted<T: Sendable>(
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

extension OutboxEntry {
    init(_ row: OutboxRow) {
        self.init(
            id: row.id,
            poll: row.stream.poll.rawValue,
            state: row.state,
            jwtID: row.change.id.rawValue,
            plan: row.change.plan,
            name: row.change.name,
            attempts: row.retryCount,
            createdAt: row.createdAt.iso8601,
            notificationID: row.notificationID
        )
    }
}
