import FoundationEssentials
import StarwatchCore
import StarwatchPolling
import StarwatchStore
import StarwatchTransport

/// Finds what an id means, and tells its life.
struct StoryFinder: Sendable {
    let account: Account
    let sinks: [SinkSlot]
    let options: AgentOptions
    let pseudonym: InstallationHash
    /// Has the polls and their last runs.
    let service: PollService

    var polls: [Poll] { service.polls }
    var environment: Environment { account.environment }
    var store: Store { environment.store }

    func explain(_ id: String) async throws -> Story {
        if let story = try await story(of: id) { return story }
        if let row = Int64(id), try await store.stories.hadRow(row) {
            throw ControlError(
                .notFound,
                "Row \(row) is deleted: finished rows stay for outbox.keep_delivered. Explain its claim id instead."
            )
        }
        throw ControlError(
            .notFound,
            """
            Nothing stored has that id. Give a claim id, chg_…, a row of starwatch outbox list, ntf_…, run_…, a project, \
            or a time such as 2026-01-01T12:00:00Z.
            """
        )
    }

    /// One sentence about a run that has no line in the stored log; `nil` if the run is unknown.
    func note(ofRun id: String) async throws(StoreError) -> String? {
        guard let run = try await recentRun(id) else { return nil }
        let time = Timestamp(milliseconds: run.finishedAt).iso8601
        return """
            No line of \(id) is stored. The run of \(run.poll) ended at \(time): \(run.outcome). See starwatch explain \
            \(id).
            """
    }

    private func story(of id: String) async throws(StoreError) -> Story? {
        if id.hasPrefix("run_") {
            let run = try await store.stories.run(id)
            let recent = try await recentRun(id)
            guard !run.isEmpty || recent != nil else { return nil }
            let open = run.rows.first { !$0.state.isTerminal }
            let first: ChangeStory? = if let open { try await store.stories.change(open.id) } else { nil }
            return await stories().run(id, run, recent: recent, firstOpen: first)
        }
        if id.hasPrefix("ntf_") {
            if let notification = try await store.stories.notification(id) {
                let stored = try await store.notifications.find(id, of: notification.stream.account)
                var story = await stories().notification(notification)
                story.polls = stored.flatMap { NotificationMessage(json: $0.payload) }?.polls
                return story
            }
            guard let digest = try await store.stories.armedDigest(id) else { return nil }
            return await stories().digest(id, digest)
        }
        var rows: [Int64] = []
        if let row = Int64(id) {
            rows = [row]
        } else if let change = JWTID(id) {
            rows = try await store.stories.rows(of: change, account: account.identity.served)
        } else if id.hasPrefix(InstallationHash.changePrefix), let change = try await change(ofHash: id) {
            rows = try await store.stories.rows(of: change, account: account.identity.served)
        }
        guard let row = rows.first, let change = try await store.stories.change(row) else {
            if Int64(id) != nil || id.hasPrefix(InstallationHash.changePrefix) { return nil }
            if let time = Timestamp(iso8601: id) { return try await self.time(time) }
            if let project = try await project(id) { return project }
            return if let change = JWTID(id) { try await absent(change) } else { nil }
        }
        return await stories().change(change, otherRows: Array(rows.dropFirst()))
    }

    /// Finds the change with this hash. Other work runs between the reads.
    private func change(ofHash hash: String) async throws(StoreError) -> JWTID? {
        var before: Int64?
        while true {
            let rows = try await store.stories.changes(before: before, limit: 2000)
            if let found = rows.first(where: { pseudonym.hash($0.change) == hash }) { return found.change }
            guard let last = rows.last else { return nil }
            before = last.id
        }
    }

    /// A builder with the present state of sinks, limits and options.
    func stories() async -> StoryBuilder {
        let (now, local) = (environment.clock.now, environment.time.now)
        var pauses: [String: ChangeWait] = [:]
        for sink in sinks { pauses[sink.name] = sink.circuit.pause(at: now) }
        var hasSinks = sinks.contains { !$0.isDisabled }
        // Of one of many accounts, the host of its address counts.
        if let served = account.identity.served,
            let receivers = try? await SinkReceiver.all(sinks, of: served, in: store)
        {
            hasSinks = receivers.contains { !$0.isDisabled }
            for receiver in receivers { pauses[receiver.name] = receiver.circuit.pause(at: now) }
        }
        // The gate's times are the local clock's.
        let held = await account.gate.hold(now: local)?.until.map { $0 + (now - local) }
        return StoryBuilder(
            now: now,
            serverAhead: now - local,
            finder: self,
            pauses: pauses,
            hasSinks: hasSinks,
            throttledUntil: held
        )
    }

    // MARK: - Runs of this process, and those that an earlier one stored at its end

    /// The run with this id; `nil` if it is unknown, or too long ago.
    private func recentRun(_ id: String) async throws(StoreError) -> RecentRun? {
        let own = service.recentRuns().filter { $0.runID == id }.max { $0.finishedAt < $1.finishedAt }
        if let own { return own }
        return try await store.stories.storedRun(id)
    }

    /// The last run of a poll that had begun by a time of the local clock; `nil` if none is known.
    func lastRun(of stream: StreamKey, by time: Timestamp) async throws(StoreError) -> RecentRun? {
        let own = service.recentRuns(of: stream.poll).filter { $0.startedAt <= time.milliseconds }
        let stored = try await store.stories.lastStoredRun(of: stream.poll, by: time)
        let cycle = try await store.stories.lastCycle(of: stream, by: time)
        return (own + [stored, cycle].compactMap(\.self)).max { left, right in
            // Of the same run the one that knows the server's answer.
            (left.finishedAt, left.requests) < (right.finishedAt, right.requests)
        }
    }
}
