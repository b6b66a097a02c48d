import StarwatchCore
import StarwatchStore

extension PollCycle {
    /// Asks for the poll's next page with the agent's own token and within the server's limits. Stores nothing of the
    /// answer.
    func trial() async -> Result {
        do throws(StoreError) {
            let snapshot = try await identity.current()
            guard let did = snapshot.identity.did else { return Result(skip: .noIdentity) }
            let stream = StreamKey(account: did, server: gate.server, poll: poll.name)
            let state = try await store.pollState(stream, maxUndelivered: outbox.maxUndelivered)
            if let skipped = await skip(snapshot, state: state) { return skipped }
            return await ask(did, snapshot, after: state.fetchCursor)
        } catch {
            return Result(
                outcome: .failed,
                reason: error.description,
                cause: FailureReason(.database),
                isStoreFailure: true
            )
        }
    }

    /// - Parameter cursor: The poll's cursor. What the poll has passed says nothing about the server's present.
    private func ask(
        _ account: DID,
        _ snapshot: IdentityContext.Snapshot,
        after cursor: JWTID?
    ) async -> Result {
        var result = Result()
        do throws(Stop) {
            let known = await gate.dialect
            let dialect = known ?? api.assumedDialect
            let answer = try await request(
                PageQuery(
                    after: cursor?.kind == known?.idKind ? cursor : nil,
                    limit: dialect == .canonical ? dialect.pageSize : nil
                ),
                chunk: poll.kind == .starredProjects ? identity.chunks(of: snapshot, dialect: dialect).first : nil,
                account: account,
                dialect: dialect,
                // Both dialects read this one.
                startCursor: known == nil ? Dialect.canonical.startCursor : nil
            )
            // A page of an unknown dialect is left to the next cycle, which finds out the dialect.
            if known != nil {
                let position = Position(
                    dialect: dialect,
                    context: PageContext(),
                    isBootstrap: false,
                    begun: time.monotonic,
                    setsInvalidAside: true,
                    room: 0,
                    isWalkStored: false
                )
                result.fetched = try await decode(answer, position).fetched
            }
            result.outcome = result.fetched > 0 ? .changed : .unchanged
        } catch {
            describe(error, in: &result)
        }
        return result
    }
}
