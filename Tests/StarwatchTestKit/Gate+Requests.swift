package import StarwatchCore
package import StarwatchPolling
package import StarwatchStore

extension Gate {
    /// A gate to a server that is not the agent's.
    package init(origin: String, requestsPerMinute: Int, store: Store?, jumps: Duration = .zero) {
        self.init(
            server: origin,
            limits: GateLimits(requestsPerMinute: requestsPerMinute),
            store: store,
            jumps: jumps
        )
    }

    /// The account stays at work until the end of the test, as with the other functions.
    package func turn(
        account: DID?,
        ticket: TicketQueue.Ticket,
        now: Timestamp
    ) async throws(StoreError) -> Admission {
        try await turn(of: enter(account), ticket: ticket, now: now)
    }

    package func admit(
        account: DID?,
        ticket: TicketQueue.Ticket,
        acknowledging identifiers: Int = 0,
        now: Timestamp
    ) async throws(StoreError) -> Admission {
        try await admit(of: enter(account), ticket: ticket, acknowledging: identifiers, now: now)
    }

    package func leave(_ ticket: TicketQueue.Ticket, account: DID?) { leave(ticket, of: enter(account)) }

    package func ended(
        account: DID?,
        acknowledging identifiers: Int = 0,
        budget: ServerBudget? = nil,
        now: Timestamp
    ) async {
        await ended(of: enter(account), acknowledging: identifiers, budget: budget, now: now)
    }

    /// Asks to send a request of an account at work, which ends at once.
    package func pass(_ sender: Sender, now: Timestamp) async throws(StoreError) -> Admission {
        let ticket = TicketQueue.Ticket()
        let admission = try await admit(of: sender, ticket: ticket, now: now)
        leave(ticket, of: sender)
        if admission == .go { await ended(of: sender, now: now) }
        return admission
    }

    /// Asks to send a request, which gives up when it must wait.
    package func admit(
        account: DID,
        acknowledging identifiers: Int = 0,
        now: Timestamp
    ) async throws(StoreError) -> Admission {
        let ticket = TicketQueue.Ticket()
        let admission = try await admit(account: account, ticket: ticket, acknowledging: identifiers, now: now)
        leave(ticket, account: account)
        return admission
    }

    /// Says whether a request can go, without waiting for it.
    package func turn(account: DID, now: Timestamp) async throws(StoreError) -> Admission {
        let ticket = TicketQueue.Ticket()
        let turn = try await turn(account: account, ticket: ticket, now: now)
        leave(ticket, account: account)
        return turn
    }

    /// Asks to send a request that ends at once.
    ///
    /// - Parameter ticket: Of a request that waits; `nil`: it gives up when it must wait.
    package func pass(
        account: DID,
        ticket: TicketQueue.Ticket? = nil,
        acknowledging identifiers: Int = 0,
        now: Timestamp
    ) async throws(StoreError) -> Admission {
        let place = ticket ?? TicketQueue.Ticket()
        let admission = try await admit(account: account, ticket: place, acknowledging: identifiers, now: now)
        if ticket == nil { leave(place, account: account) }
        if admission == .go { await ended(account: account, acknowledging: identifiers, now: now) }
        return admission
    }

    /// Asks to send a request of no account; the time until which it must wait, or `nil` when it goes.
    package func admit(_ ticket: TicketQueue.Ticket, now: Timestamp) async throws(StoreError) -> Timestamp? {
        guard case .wait(let until, _) = try await admit(account: nil, ticket: ticket, now: now) else { return nil }
        return until
    }

    /// Asks to send a request of no account, which gives up when it must wait.
    package func admit(now: Timestamp) async throws(StoreError) -> Timestamp? {
        let ticket = TicketQueue.Ticket()
        let until = try await admit(ticket, now: now)
        leave(ticket, account: nil)
        return until
    }

    /// Moves everything along with a clock that was set at the start of the test.
    package func shift(by jump: Duration) async { await shift(by: jump, now: ManualClock.start + jump) }
}
