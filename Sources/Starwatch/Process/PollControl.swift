import StarwatchCore
import StarwatchStore
import StarwatchTransport

/// The polls, as an operator or a host program starts their cycles, and the invalid items that polls have set aside.
struct PollControl: Sendable {
    let runtime: AccountRuntime

    /// Runs one cycle, then delivers and acknowledges.
    func run(_ run: PollRun) async throws -> PollReport {
        let poll = try runtime.polls.named(run.name)
        let runID = RandomID.runID()
        if let recent = run.unlessWithin, try await hasSucceeded(poll, within: recent) {
            var report = PollReport(poll: run.name, outcome: "skipped", runID: runID)
            report.reason = "recent"
            return report
        }
        let (before, made) = (await standing(of: poll), runtime.dispatcher.made)
        let result = await runtime.pollService.pass(poll, runID: runID)
        var report = PollReport(result, of: poll, runID: runID)
        _ = await runtime.dispatcher.pass()
        _ = await runtime.acknowledger.pass()
        report.notifications = runtime.dispatcher.made - made
        guard let after = await standing(of: poll) else { return report }
        report.undelivered = after.undelivered
        report.unacknowledged = after.unacknowledged
        guard let before else { return report }
        report.acknowledged = after.acknowledged - before.acknowledged
        report.watermarkMoved = after.watermark != before.watermark
        return report
    }

    /// The standing of a poll's changes. The difference of two shows what was done between them, whoever did it: the workers
    /// of a running agent deliver and acknowledge too.
    ///
    /// - Returns: `nil` if nobody is signed in, or if the database cannot be read.
    private func standing(
        of poll: Poll
    ) async -> (undelivered: Int, unacknowledged: Int, acknowledged: Int, watermark: JWTID?)? {
        let store = runtime.process.store
        guard let (stream, state) = try? await stored(poll),
            let rows = try? await store.outbox.counts(of: stream),
            let ledger = try? await store.status.ledger(stream)
        else { return nil }
        return (
            undelivered: (rows[.pending] ?? 0) + (rows[.claimed] ?? 0),
            unacknowledged: rows[.delivered] ?? 0,
            acknowledged: ledger.acknowledged,
            watermark: state.watermark
        )
    }

    /// Requests one page, and stores and delivers nothing.
    func trial(_ name: String) async throws -> PollReport {
        let poll = try runtime.polls.named(name)
        let runID = RandomID.runID()
        return PollReport(await runtime.pollService.trial(poll, runID: runID), of: poll, runID: runID)
    }

    /// Ends the wait that the server asked for.
    func clearServerWait() async throws -> ServerWaitReport {
        let process = runtime.process
        await process.gates.followClock()
        let until = try await runtime.account.gate.clearWait(now: process.environment.time.now)
        return ServerWaitReport(waitedUntil: until?.iso8601)
    }

    /// Returns whether the active identity's last success is younger than `time`. A future success, from a clock that
    /// was ahead, does not count.
    private func hasSucceeded(_ poll: Poll, within time: Duration) async throws -> Bool {
        guard let success = try await stored(poll)?.state.lastSuccess else { return false }
        let age = runtime.process.environment.time.now - success
        return age >= .zero && age < time
    }

    /// The stream of a poll and its stored state; `nil` if nobody is signed in.
    private func stored(_ poll: Poll) async throws -> (stream: StreamKey, state: PollState)? {
        guard let did = try await runtime.account.identity.stored().did else { return nil }
        let stream = runtime.account.stream(of: poll, for: did)
        let limit = runtime.options.outbox.maxUndelivered
        return (stream, try await runtime.process.store.polls.state(stream, maxUndelivered: limit))
    }

    // MARK: - Quarantine

    func quarantined(_ query: QuarantineQuery) async throws -> [QuarantineEntry] {
        try ControlError.check(limit: query.limit, upTo: OutboxEntry.listLimit)
        return try await runtime.process.store.quarantine.list(
            of: runtime.account.identity.served,
            poll: query.poll.map { try runtime.polls.named($0).name },
            before: query.before,
            limit: query.limit
        ).map { QuarantineEntry($0) }
    }

    /// - Parameters:
    ///   - ids: The items that are discarded; `nil` means every item.
    ///   - poll: The poll whose items are discarded; `nil` means every poll.
    func discardQuarantined(_ ids: [Int64]?, poll: String?) async throws -> Int {
        try await runtime.process.store.quarantine.discard(
            ids,
            poll: try poll.map { try runtime.polls.named($0).name },
            of: runtime.account.identity.served,
            now: runtime.process.environment.clock.now
        )
    }
}

extension PollReport {
    fileprivate init(_ result: PollCycle.Result, of poll: Poll, runID: String) {
        self.init(poll: poll.name.rawValue, outcome: result.outcome?.rawValue ?? "skipped", runID: runID)
        reason = result.skip?.rawValue ?? result.failure?.reason
        cause = result.failure?.cause.description
        fetched = result.fetched
        new = result.new
    }
}

extension QuarantineEntry {
    fileprivate init(_ item: QuarantinedItem) {
        self.init(
            id: item.id,
            poll: item.stream.poll.rawValue,
            kind: item.violation.rawValue,
            jwtID: item.jwtID?.rawValue,
            issues: item.issues.map { Issue(path: $0.path, problem: $0.problem.rawValue) },
            page: item.page,
            runID: item.runID,
            times: item.times,
            createdAt: item.createdAt.iso8601,
            seenAt: item.seenAt.iso8601
        )
    }
}
