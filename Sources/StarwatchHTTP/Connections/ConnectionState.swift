import NIOCore

/// The phase of a connection, with its start.
struct ConnectionState {
    enum Phase {
        /// Waiting for the end of the TLS handshake.
        case handshaking
        /// Waiting for a request.
        case idle
        /// Waiting for the rest of a request.
        case receiving
        /// The server works on an answer.
        case answering
        /// Waiting for the client to take the answer.
        case sending
    }

    private(set) var phase: Phase
    private(set) var since: NIODeadline
    /// The number of written pieces that the system has not taken yet.
    private var unsent = 0
    /// Whether the server works on an answer, possibly before the client has taken the previous one.
    private var isAnswering = false

    init(at now: NIODeadline, isEncrypted: Bool = false) {
        since = now
        phase = isEncrypted ? .handshaking : .idle
    }

    mutating func handshakeIsComplete(at now: NIODeadline) {
        if phase == .handshaking { enter(unsent > 0 ? .sending : .idle, at: now) }
    }

    mutating func bytesCame(at now: NIODeadline) {
        if phase == .idle { enter(.receiving, at: now) }
    }

    /// A client that pipelines requests must take the previous answers first.
    mutating func requestIsComplete(at now: NIODeadline) {
        isAnswering = true
        if unsent == 0 { enter(.answering, at: now) }
    }

    mutating func pieceWasWritten(at now: NIODeadline) {
        isAnswering = false
        unsent += 1
        if phase != .sending, phase != .handshaking { enter(.sending, at: now) }
    }

    mutating func pieceWasTaken(at now: NIODeadline) {
        unsent -= 1
        if phase == .handshaking { return }
        enter(unsent > 0 ? .sending : isAnswering ? .answering : .idle, at: now)
    }

    /// The start of the wait for the client; `nil` while the server is at work.
    var quietSince: NIODeadline? { phase == .answering ? nil : since }

    /// The deadline for the client; `nil` while the server is at work.
    func deadline(_ limits: ConnectionLimits) -> NIODeadline? {
        switch phase {
        case .idle: since + TimeAmount(limits.idle)
        case .handshaking, .receiving: since + TimeAmount(limits.request)
        case .answering: nil
        case .sending: since + TimeAmount(limits.answer)
        }
    }

    private mutating func enter(_ phase: Phase, at now: NIODeadline) {
        self.phase = phase
        since = now
    }
}
