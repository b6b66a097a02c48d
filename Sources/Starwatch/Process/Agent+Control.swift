import Logging
package import StarwatchCore
import StarwatchStore
import StarwatchTelemetry
import StarwatchTransport

extension Agent: ServedAgent {
    package func runPoll(_ name: String, unlessWithin: Duration?) async throws(ControlError) -> PollReport {
        try await counted(.pollRun) {
            let poll = try poll(named: name)
            let runID = RandomID.runID()
            if let unlessWithin, try await hasSucceeded(poll, within: unlessWithin) {
                var report = PollReport(poll: name, outcome: "skipped", runID: runID)
                report.reason = "recent"
                return report
            }
            let result = await runtime.pollService.pass(poll, runID: runID)
            var report = PollReport(result, of: poll, runID: runID)
            let delivery = await runtime.dispatcher.pass()
            report.notifications = delivery.made
            let acknowledgement = await runtime.acknowledger.pass()
            report.acknowledged = acknowledgement.acknowledged
            report.watermarkMoved = acknowledgement.watermarkMoved
            return report
        }
    }

    package func tryPoll(_ name: String) async throws(ControlError) -> PollReport {
        try await counted(.read) {
            let poll = try poll(named: name)
            let runID = RandomID.runID()
            return PollReport(await runtime.pollService.trial(poll, runID: runID), of: poll, runID: runID)
        }
    }

    private func poll(named name: String) throws(ControlError) -> Poll {
        if let poll = polls.first(where: { $0.name.rawValue == name }) { return poll }
        throw ControlError(.notFound, "There is no poll of that name; starwatch status lists them.")
    }

    /// Returns whether the active identity's last success is younger than `time`. A future success, from a clock that
    /// was ahead, does not count.
    private func hasSucceeded(_ poll: Poll, within time: Duration) async throws -> Bool {
        guard let did = try await store.activeIdentity().did else { return false }
        let stream = StreamKey(account: did, server: server, poll: poll.name)
        let state = try await store.pollState(stream, maxUndelivered: options.outbox.maxUndelivered)
        guard let success = state.lastSuccess else { return false }
        let age = self.time.now - success
        return age >= .zero && age < time
    }

    package func identity() async throws(ControlError) -> IdentityReport {
        try await counted(.read) { report(try await store.activeIdentity()) }
    }

    /// Changes the identity. Cycles of the previous one are cancelled and cannot store anything.
    package func setIdentity(_ did: DID?) async throws(ControlError) -> IdentityReport {
        try await counted(.identitySet) {
            if let did {
                do throws(TokenError) { try await runtime.account.api.tokens.validate(account: did) } catch {
                    throw ControlError(.invalid, error.description)
                }
            }
            do {
                let change = try await store.setIdentity(did, server: server, now: clock.now)
                if change.changed {
                    identity.invalidate()
                    await giveUpWork()
                    await runtime.account.api.tokens.forget()
                    runtime.pollService.startNew()
                    await publishKeyAge()
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
                runtime.pollService.startNew()
                throw error
            }
        }
    }

    package func removeIdentity(_ did: DID) async throws(ControlError) -> IdentityRemovalReport {
        try await counted(.identityRemove) {
            switch try await store.removeAccount(did, now: clock.now) {
            case .removed(let time):
                return IdentityRemovalReport(keptUntil: (time + RetentionPolicy().removed).iso8601)
            case .active: throw ControlError(.conflict, "That identity is signed in; sign out or change it first.")
            case .unknown: throw ControlError(.notFound, "Nothing is stored of that identity.")
            }
        }
    }

    /// Cancels the work in flight for a previous identity, and returns when it has ended.
    private func giveUpWork() async {
        process.pollManager.abort()
        await runtime.abort()
    }

    package func starsListing() async throws(ControlError) -> StarsListing {
        try await counted(.read) {
            let did = try await signedIn()
            let stars = try await store.stars(of: did)
            let starred = Set(stars)
            // The operator's names win, as in notifications.
            let names = try await store.planNames(of: did, server: server)
                .merging(options.delivery.projectNames) { $1 }
                .filter { starred.contains($0.key) }
            return StarsListing(planIDs: stars, names: names)
        }
    }

    package func changeStars(_ change: StarsChange) async throws(ControlError) -> [String] {
        try await counted(.starsChange) {
            let did = try await signedIn()
            guard change.planIDs.allSatisfy({ (1...2048).contains($0.unicodeScalars.count) }) else {
                throw ControlError(.invalid, "A plan identifier is empty or longer than 2,048 characters.")
            }
            try await checkStars(of: did, before: change)
            // Needed after a failure too, because the change can be stored despite it.
            defer {
                identity.invalidate()
                runtime.pollService.startNew()
            }
            let (server, now) = (self.server, clock.now)
            let stars =
                switch change.operation {
                case .set: try await store.setStars(change.planIDs, of: did, server: server, now: now)
                case .add: try await store.addStars(change.planIDs, of: did, server: server, now: now)
                case .remove: try await store.removeStars(change.planIDs, of: did, server: server, now: now)
                case .optOut, .optIn:
                    try await store.setStarsOptedOut(change.operation == .optOut, of: did, server: server, now: now)
                case .restore: try await store.restoreStars(of: did, server: server, now: now)
                }
            runtime.wakes.acknowledge.raise()
            return stars
        }
    }

    /// Rejects a change to too many stars, and one that would keep a part of stars that nobody can read, because it would
    /// lose the rest.
    private func checkStars(of did: DID, before change: StarsChange) async throws(ControlError) {
        try checkCount(change.planIDs.count)
        guard [.add, .remove, .restore].contains(change.operation) else { return }
        let interests: Interests
        do throws(StoreError) {
            interests = try await store.interests(of: did)
        } catch { throw ControlError(error) }
        if interests.areStarsUnreadable {
            throw ControlError(
                .conflict,
                "The stored stars are not a list of plan identifiers, and nothing was changed; replace them with starwatch stars set."
            )
        }
        if change.operation == .add { try checkCount(Set(interests.stars + change.planIDs).count) }
    }

    private func checkCount(_ plans: Int) throws(ControlError) {
        guard plans > StarsChange.planLimit else { return }
        throw ControlError(.invalid, "An identity can star at most 10,000 plans; remove some first, or send fewer.")
    }

    package func archivedStars() async throws(ControlError) -> [ArchivedStarsReport] {
        try await counted(.read) {
            try await store.archivedStars(of: try await signedIn()).map {
                ArchivedStarsReport(archivedAt: $0.archivedAt.iso8601, planIDs: $0.stars)
            }
        }
    }

    package func reload() async throws(ControlError) {
        try await counted(.reload) { try await reloader.reload() }
    }

    func signedIn() async throws -> DID {
        if let did = try await store.activeIdentity().did { return did }
        throw ControlError(.conflict, "No identity is active; set one with starwatch identity set DID.")
    }

    private func report(_ identity: ActiveIdentity) -> IdentityReport {
        IdentityReport(
            did: identity.did?.rawValue,
            generation: identity.generation,
            pseudonym: identity.did.map(process.pseudonym.hash)
        )
    }

    package func noteRefusal(_ reason: ControlRefusal, at port: ServedPort) {
        let counter = port == .http ? metrics.web.refused : metrics.controlRefused
        counter[reason].increment()
        let error =
            switch reason {
            case .host: "A request named a host that is not in http.allowed_hosts."
            case .origin: "A page of another origin sent a request."
            case .token: "A request did not have the control token."
            case .password: "A request did not have the name and password of a user."
            case .rate: "An address with too many refused requests has to wait."
            }
        logger.log(port == .http ? .httpRefused : .controlRefused, [.error: "\(error)", .reason: "\(reason.rawValue)"])
    }

    package func noteWebConfiguration(_ news: WebConfigurationNews, at port: ServedPort) {
        var fields: AgentEvent.Fields = [.port: "\(port.rawValue)"]
        switch news {
        case .loaded(let certificate): show(certificate, at: port)
        case .reloaded(let certificate):
            show(certificate, at: port)
            logger.log(.webConfigReloaded, fields)
        case .refused(let error):
            metrics.web.reloadSuccessful[port].set(0)
            lifecycle.noteWebConfiguration(of: port, isRefused: true)
            fields[.error] = "\(error)"
            logger.log(.webConfigRefused, fields)
        case .clearText: logger.log(.httpClearText, fields)
        }
    }

    private func show(_ certificate: CertificateNews, at port: ServedPort) {
        metrics.web.reloadSuccessful[port].set(1)
        lifecycle.noteWebConfiguration(of: port, isRefused: false)
        if let expiry = certificate.expiry { metrics.web.certificateExpiry[port].set(expiry.seconds) }
    }

    /// Counts a control request by its outcome.
    func counted<T: Sendable>(
        _ operation: ControlOperation,
        _ body: () async throws -> T
    ) async throws(ControlError) -> T {
        do {
            let value = try await body()
            metrics.controlRequests[operation, .ok].increment()
            return value
        } catch {
            metrics.controlRequests[operation, .failed].increment()
            throw ControlError(error)
        }
    }
}

extension PollReport {
    fileprivate init(_ result: PollCycle.Result, of poll: Poll, runID: String) {
        self.init(poll: poll.name.rawValue, outcome: result.outcome?.rawValue ?? "skipped", runID: runID)
        reason = result.skip?.rawValue ?? result.reason
        cause = result.cause?.description
        fetched = result.fetched
        new = result.new
    }
}

extension ControlError {
    /// Converts any error of a control request.
    init(_ error: any Error) { self = error as? ControlError ?? ControlError(.failed, "\(error)") }
}
