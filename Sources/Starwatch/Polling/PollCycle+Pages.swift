import StarwatchCore
import StarwatchTransport

/// The pages that a cycle asks for.
extension PollCycle {
    /// Fetches and decodes a page. If its bytes cannot be read and it is time to set the cause aside, finds the item that
    /// breaks it.
    func wholePage(
        _ query: PageQuery,
        _ chunk: PlanChunk?,
        _ stream: StreamKey,
        _ snapshot: IdentityContext.Snapshot,
        _ position: inout Position
    ) async throws(Stop) -> (Fetched, Page) {
        let answer: Fetched
        var searched: Page?
        do throws(Stop) {
            answer = try await page(query, chunk, stream, &position)
        } catch {
            guard error.isUnreadable, position.setsInvalidAside else { throw error }
            let found = try await searchedPage(query, chunk, stream, position, failure: error)
            answer = found.0
            searched = found.1
        }
        // A plan that was starred after the request can have an older change. This page would move the cursor past it.
        guard try await interests(are: snapshot) else { throw .interestsChanged }
        if let date = answer.date, answer.response.headers["Age"] == nil {
            memory.move { $0.observe(date, at: time.boottime, tolerance: position.dialect.lateVisibility / 2) }
        }
        if let searched { return (answer, searched) }
        return (answer, try await decode(answer, position))
    }

    /// Asks for smaller ranges of an unreadable page until it is known which item breaks it.
    private func searchedPage(
        _ query: PageQuery,
        _ chunk: PlanChunk?,
        _ stream: StreamKey,
        _ position: Position,
        failure: Stop
    ) async throws(Stop) -> (Fetched, Page) {
        let ask = { (query: PageQuery) async throws(Stop) -> (answer: Fetched, page: Page) in
            let answer = try await self.request(query, chunk: chunk, account: stream.account, dialect: position.dialect)
            return (answer, try await self.decode(answer, position))
        }
        var search = UnreadableItemSearch(
            query,
            dialect: position.dialect,
            latest: latestID(after: clock.now, query.after?.timestamp),
            known: memory.unreadable(in: stream)
        )
        // Every readable range includes the one before, but for the last, which shows that the cause is gone.
        var readable: (answer: Fetched, page: Page)?
        while let next = search.next {
            do throws(Stop) {
                readable = try await ask(next)
                search.receive(isReadable: true)
            } catch {
                guard error.isUnreadable else { throw error }
                search.receive(isReadable: false)
            }
        }
        switch search.end {
        case .item(let item):
            memory.found(item.span, in: stream)
            guard let readable else { throw failure }
            return (readable.answer, search.page(readable.page, with: item))
        case .nothing: return try await ask(query)
        case .everything, nil: throw failure
        }
    }

    private func page(
        _ query: PageQuery,
        _ chunk: PlanChunk?,
        _ stream: StreamKey,
        _ position: inout Position
    ) async throws(Stop) -> Fetched {
        if let first = position.first {
            position.first = nil
            return first
        }
        return try await request(query, chunk: chunk, account: stream.account, dialect: position.dialect)
    }
}
