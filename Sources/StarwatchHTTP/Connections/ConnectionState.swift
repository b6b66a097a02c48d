import NIOCore

/// Whom a connection waits for, and since when.
struct ConnectionState {
    enum Phase {
        /// For a request to begin.
        case idle
        /// For the rest of a request.
        case receiving
        /// For us.
        case answering
        /// For the client to take the answer.
        case sending
    }

    private(set) var phase = Phase.idle
    private(set) var since: NIODeadline
    /// Pieces of answers that the system has not taken yet.
    private var unsent = 0
    /// Whether an answer is being made, perhaps while the client has not taken the one before.
    private var isAnswering = false

    init(at now: NIODeadline) { since = now }

    mutating func bytesCame(at now: NIODeadline) {
        if phase == .idle { enter(.receiving, at: now) }
    }

    /// A client that sends several requests at once still has to take the answers: until then it is waited for.
    mutating func requestIsComplete(at now: NIODeadline) {
        isAnswering = true
        if unsent == 0 { enter(.answering, at: now) }
    }

    mutating func pieceWasWritten(at now: NIODeadline) {
        isAnswering = false
        unsent += 1
        if phase != .sending { enter(.sending, at: now) }
    }

    mutating func pieceWasTaken(at now: NIODeadline) {
        unsent -= 1
        enter(unsent > 0 ? .sending : isAnswering ? .answering : .idle, at: now)
    }

    /// Since when the client is who is waited for; `nil` while it is us.
    var quietSince: NIODeadline? { phase == .answering ? nil : since }

    /// When the client has kept us waiting for too long; `nil` while it is us.
    func deadline(_ limits: ConnectionLimits) -> NIODeadline? {
        switch phase {
        case .idle: since + TimeAmount(limits.idle)
        case .receiving: since + TimeAmount(limits.request)
        case .answering: nil
        case .sending: since + TimeAmount(limits.answer)
        }
    }

    private mutating func enter(_ phase: Phase, at now: NIODeadline) {
        self.phase = phase
        since = now
    }
}
