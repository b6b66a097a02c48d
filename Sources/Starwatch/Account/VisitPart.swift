import StarwatchCore
import StarwatchPolling
import StarwatchTransport

/// A part of an account's work: a poll, the delivery, the acknowledgement and others. A visit does it when it is due or woken.
package struct VisitPart: Sendable {
    enum Name: Sendable, Hashable {
        case poll(PollName)
        case canary, digests, delivery, acknowledgement, callbacks
    }

    let name: Name
    /// Raised when work can be due before its time; `nil` if that does not happen.
    let wake: Wake?
    /// The executor of its work.
    let executor: (any TaskExecutor)?
    /// Does what is due now, and returns the time of the next work by the local clock; `nil` when only ``wake`` can announce
    /// some.
    let turn: @Sendable () async -> Timestamp?
    /// Cancels the work that the turn has left at a stop of the process, which cancels the turn too; `nil` if a stop lets the
    /// turn end and makes one more.
    let cancel: (@Sendable () async -> Void)?
    /// Whether it can poll, beside the polls themselves.
    var polls = false
}

extension VisitPart {
    /// A part that works in passes.
    ///
    /// - Parameters:
    ///   - finishes: Whether a stop of the process lets the pass in flight end and makes one more. Otherwise it is cancelled.
    ///   - polls: Whether it can poll.
    ///   - worker: Makes the worker, or returns the one that there is.
    init<Work: Worker>(
        _ name: Name,
        wake: Wake?,
        finishes: Bool = false,
        polls: Bool = false,
        _ worker: @escaping @Sendable () -> Work
    ) {
        let cancel: @Sendable () async -> Void = { await worker().abort() }
        self.init(
            name: name,
            wake: wake,
            executor: Offload.executor,
            turn: { await worker().turn() },
            cancel: finishes ? nil : cancel,
            polls: polls
        )
    }

    var isPoll: Bool { if case .poll = name { true } else { false } }
}
