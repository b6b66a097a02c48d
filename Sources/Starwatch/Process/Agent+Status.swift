import StarwatchCore
import StarwatchStore
import StarwatchTransport

extension Agent {
    package func status() async -> AgentStatus {
        let now = clock.now
        var status = AgentStatus(version: AgentVersion.current, startedAt: process.startedAt, now: now)
        var reasons: [String] = []
        status.clock.skewSeconds = clock.estimate?.offset.inSeconds
        status.clock.uncertaintySeconds = clock.estimate?.uncertainty.inSeconds
        status.clock.lastSync = clock.lastSync?.iso8601
        if clock.isSkewed { reasons.append(StatusReason.clockSkew.rawValue) }
        status.server.dialect = await runtime.account.gate.dialect
        let circuit = await runtime.account.gate.circuitState
        status.server.circuit = circuit.rawValue
        if circuit != .closed { reasons.append(StatusReason.circuitOpen.of("server")) }
        status.server.throttledUntil = await runtime.account.gate.heldUntil(now: time.now)?.iso8601
        for slot in sinks {
            let state = slot.isDisabled ? "disabled" : slot.isRejecting ? "rejecting" : slot.circuitState.rawValue
            status.outbox.sinks[slot.name] = state
            status.outbox.sinkReasons[slot.name] = slot.lastReason?.description
            if slot.isDisabled { reasons.append(StatusReason.sinkDisabled.of(slot.name)) }
            if slot.circuitState != .closed { reasons.append(StatusReason.circuitOpen.of(slot.name)) }
        }
        do {
            let snapshot = try await snapshot()
            status.identity = snapshot.identity.did.map(process.pseudonym.hash)
            fill(&status.outbox, from: snapshot)
            status.outbox.oldestDue = runtime.dispatcher.oldestDue(in: snapshot)?.iso8601
            let current = try await identity.current()
            for poll in polls {
                let stream = snapshot.streams.first { $0.key.poll == poll.name }?.value
                let (name, entry) = self.entry(poll, stream, now: now, of: current)
                status.polls[name] = entry
                if entry.stale { reasons.append(StatusReason.stale.of(name)) }
            }
            status.digests = try await digestStatus(of: snapshot.identity.did)
            if store.health.failure != nil { reasons.append(StatusReason.storeUnavailable.rawValue) }
        } catch {
            reasons.append(StatusReason.storeUnavailable.rawValue)
        }
        if status.outbox.dead > 0 { reasons.append(StatusReason.deadLetters.rawValue) }
        if status.outbox.backpressure { reasons.append(StatusReason.backpressure.rawValue) }
        if status.outbox.ledgerImbalance != 0 { reasons.append(StatusReason.ledgerImbalance.rawValue) }
        status.reasons = reasons.sorted()
        status.status = reasons.isEmpty ? .healthy : .degraded
        return status
    }

    private func fill(_ outbox: inout AgentStatus.Outbox, from snapshot: StoreSnapshot) {
        outbox.pending = snapshot.rows[.pending] ?? 0
        outbox.claimed = snapshot.rows[.claimed] ?? 0
        outbox.delivered = snapshot.rows[.delivered] ?? 0
        outbox.dead = snapshot.rows[.dead] ?? 0
        outbox.capacity = options.outbox.maxUndelivered
        outbox.backpressure = PollGate.isUnderPressure(
            openRows: outbox.pending + outbox.claimed,
            maxUndelivered: options.outbox.maxUndelivered,
            threshold: options.outbox.backpressureThreshold
        )
        outbox.oldestPending = snapshot.ages.oldestPending?.iso8601
        outbox.ledgerImbalance = snapshot.imbalance.fetched + snapshot.imbalance.new
    }

    private func entry(
        _ poll: Poll,
        _ stream: StreamSnapshot?,
        now: Timestamp,
        of identity: IdentityContext.Snapshot
    ) -> (String, AgentStatus.Poll) {
        // A poll that never succeeded becomes stale after the agent has run for the stale limit.
        let since = identity.ageBegins(poll.kind, lastSuccess: stream?.lastSuccess, startedAt: process.startedAt)
        var entry = AgentStatus.Poll(
            kind: poll.kind,
            stale: identity.expects(poll.kind) && now - since > poll.options.staleAfter,
            staleAfterSeconds: poll.options.staleAfter.inSeconds
        )
        entry.lastAttempt = stream?.lastAttempt?.iso8601
        entry.lastSuccess = stream?.lastSuccess?.iso8601
        entry.lastOutcome = stream?.lastOutcome?.rawValue
        entry.nextRun = (runtime.pollService.nextRun(poll.name) ?? stream?.nextRun)?.iso8601
        entry.watermarkTime = stream?.watermark?.timestamp.iso8601
        entry.fetchCursorTime = stream?.fetchCursor?.timestamp.iso8601
        entry.skipReason = runtime.pollService.lastSkip(poll.name)
        if let reason = runtime.pollService.lastTokenReason(poll.name) ?? stream?.lastReason {
            entry.lastReason = reason.description
            entry.lastError = reason.sentence
            entry.needsAction = reason.needsAction
        }
        return (poll.name.rawValue, entry)
    }
}
