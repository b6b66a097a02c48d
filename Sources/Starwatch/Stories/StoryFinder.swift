import StarwatchCore
import StarwatchPolling
import StarwatchStore
import StarwatchTransport

/// Finds what an id means, and tells its life.
struct StoryFinder: Sendable {
    let account: Account
    let store: Store
    let sinks: [SinkSlot]
    let options: AgentOptions
    let environment: Environment
    let pseudonym: IdentityHash
    let changeHash: ChangeHash

    func explain(_ id: String) async throws -> Story {
        if let story = try await story(of: id) { return story }
        throw ControlError(
            .notFound,
            "Nothing stored has that id. Give a claim id, chg_…, a row of starwatch outbox list, ntf_… or run_…."
        )
    }

    private func story(of id: String) async throws(StoreError) -> Story? {
        if id.hasPrefix("run_") {
            let run = try await store.stories.run(id)
            guard !run.isEmpty else { return nil }
            let open = run.rows.first { !$0.state.isTerminal }
            let first: ChangeStory? = if let open { try await store.stories.change(open.id) } else { nil }
            return await stories().run(id, run, firstOpen: first)
        }
        if id.hasPrefix("ntf_") {
            if let notification = try await store.stories.notification(id) {
                return await stories().notification(notification)
            }
            return try await store.stories.armedDigest(id).map { StoryBuilder.digest(id, $0, pseudonym) }
        }
        var rows: [Int64] = []
        if let row = Int64(id) {
            rows = [row]
        } else if let change = JWTID(id) {
            rows = try await store.stories.rows(of: change)
        } else if id.hasPrefix(ChangeHash.prefix), let change = try await change(ofHash: id) {
            rows = try await store.stories.rows(of: change)
        }
        guard let row = rows.first, let change = try await store.stories.change(row) else { return nil }
        return await stories().change(change, otherRows: Array(rows.dropFirst()))
    }

    /// Finds the change with this hash. Other work runs between the reads.
    private func change(ofHash hash: String) async throws(StoreError) -> JWTID? {
        var before: Int64?
        while true {
            let rows = try await store.stories.changes(before: before, limit: 2000)
            if let found = rows.first(where: { changeHash.hash($0.change) == hash }) { return found.change }
            guard let last = rows.last else { return nil }
            before = last.id
        }
    }

    /// A builder with the present state of sinks, limits and options.
    private func stories() async -> StoryBuilder {
        let (now, local) = (environment.clock.now, environment.time.now)
        var pauses: [String: SinkPause] = [:]
        for sink in sinks { pauses[sink.name] = sink.pause(at: now) }
        // The gate's times are the local clock's.
        let held = await account.gate.hold(now: local)?.until.map { $0 + (now - local) }
        return StoryBuilder(
            now: now,
            serverAhead: now - local,
            pseudonym: pseudonym,
            changeHash: changeHash,
            pauses: pauses,
            hasSinks: sinks.contains { !$0.isDisabled },
            throttledUntil: held,
            options: options
        )
    }
}
