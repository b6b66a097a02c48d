/// Fault or event of a simulation. A run can exclude some of them.
package enum FaultKind: Int, Sendable, CaseIterable {
    // The network, on the way to the server.
    case unresolved, unconnected, reset, answerLost, timeout, oversized
    // The server's responses.
    case rateLimited, unavailable, serverError, unauthenticated, malformed
    case wrongNext, outOfOrder, duplicated, skewedDate
    case lateVisibility, partialAcknowledgement
    // Sinks.
    case sinkRefused, sinkRejected, sinkAnswerLost, sinkTimeout, sinkBusy, sinkGone
    // The disk.
    case diskBusy, diskFull, diskError, diskLate
    // The process and the machine.
    case crash, crashInTransaction, crashInWrite, powerLoss, restart, reload, clockStep, suspend, outage
    // People.
    case identity, signOut, stars, pressure, manualPoll, operatorEdit, keyRotation
    // The claims of others, a backlog, the server's clock, and the database's bytes.
    case hostileClaim, invalidItem, unreadableItem, flood, serverClock, flippedBit
    // One of many accounts, and another process that takes accounts over.
    case accountPause, accountRemoval, takeover
    // One of several processes that share the accounts.
    case processStop, partition

    /// Kinds with their own random choice, so that the other settings of a seed do not depend on them.
    static let chosenApart: Set<FaultKind> = ofMany.union(ofSeveral).union([
        .keyRotation, .hostileClaim, .invalidItem, .unreadableItem, .flood, .serverClock, .flippedBit,
    ])
    /// Kinds that need an agent for many accounts, and those that it cannot have.
    package static let ofMany: Set<FaultKind> = [.accountPause, .accountRemoval, .takeover]
    package static let ofOne: Set<FaultKind> = [.identity, .signOut]
    /// Kinds that need several processes, and those for a process that has the database alone: SQLite has no common clock
    /// for the times of leases, and keys and polls by hand are not under leases.
    package static let ofSeveral: Set<FaultKind> = [.processStop, .partition]
    package static let ofAlone: Set<FaultKind> = [.clockStep, .keyRotation, .manualPoll, .takeover]

    /// Name in arguments and reports.
    package var name: String { "\(self)" }

    /// Finds the kind with this name; `nil` if there is none.
    package init?(name: String) {
        guard let kind = Self.allCases.first(where: { $0.name == name }) else { return nil }
        self = kind
    }
}
