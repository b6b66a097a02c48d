import StarwatchCore
import StarwatchStore

@testable import Starwatch

/// A database, and the ways to one server that begin with it, one after the other.
class GateBench {
    let folder: TestFolder
    let store: Store
    let metrics: AgentMetrics
    let server = "http://127.0.0.1"

    init() throws {
        folder = try TestFolder()
        store = try Store(StoreOptions(path: folder.path("starwatch.db")))
        metrics = try AgentMetrics(polls: ["starred_projects"], sinks: ["file"], now: { ManualClock.start })
    }

    func makeGate(requests: Int = 100, acknowledgements: Int = 1000) -> ServerGate {
        var limits = LimitOptions()
        limits.requestsPerMinute = requests
        limits.acknowledgementsPerMinute = acknowledgements
        return ServerGate(server: server, dialect: .auto, limits: limits, store: store, metrics: metrics)
    }
}

extension ServerGate {
    /// Asks to send a request, which gives up when it would have to wait.
    func admit(account: DID, acknowledging identifiers: Int = 0, now: Timestamp) async throws(StoreError) -> Admission {
        let ticket = WaitingLine.Ticket()
        let admission = try await admit(account: account, ticket: ticket, acknowledging: identifiers, now: now)
        leave(ticket, account: account)
        return admission
    }

    /// Whether a request could go, without waiting for it.
    func turn(account: DID, now: Timestamp) async throws(StoreError) -> Admission {
        let ticket = WaitingLine.Ticket()
        let turn = try await turn(account: account, ticket: ticket, now: now)
        leave(ticket, account: account)
        return turn
    }

    /// Asks to send a request that ends at once.
    ///
    /// - Parameter ticket: Of a request that waits; `nil`: it gives up when it would have to.
    func pass(
        account: DID,
        ticket: WaitingLine.Ticket? = nil,
        acknowledging identifiers: Int = 0,
        now: Timestamp
    ) async throws(StoreError) -> Admission {
        let place = ticket ?? WaitingLine.Ticket()
        let admission = try await admit(account: account, ticket: place, acknowledging: identifiers, now: now)
        if ticket == nil { leave(place, account: account) }
        if admission == .go { ended(account: account, acknowledging: identifiers, admittedAt: now, now: now) }
        return admission
    }
}

extension OriginGate {
    /// Asks to send a request, which gives up when it would have to wait.
    func admit(now: Timestamp) async throws(StoreError) -> Timestamp? {
        let ticket = WaitingLine.Ticket()
        let until = try await admit(ticket, now: now)
        leave(ticket)
        return until
    }
}
