package import StarwatchCore
import StarwatchPolling
import StarwatchStore

extension PollCycle {
    package struct Result: Sendable, Hashable {
        /// Outcome; `nil` if the cycle was skipped.
        package var outcome: PollOutcome?
        package var skip: SkipReason?
        /// The failure of a cycle that did not succeed, or was skipped because it has no token.
        package var failure: APIFailure?
        /// `true` if the cycle failed or was skipped because it could not get a token.
        package var lacksToken = false
        /// `true` if the cycle failed because of the database.
        package var isStoreFailure = false
        /// `true` if changes were left at the server because the outbox has no room.
        package var isOutOfRoom = false
        /// Time at which a deferred cycle can resume.
        package var resumeAt: Timestamp?
        package var fetched = 0
        package var new = 0
        /// Number of changes that are stored and not announced.
        package var suppressed = 0
        /// Number of evicted changes that were fetched again.
        package var refetched = 0
        /// Number of evicted changes that the server sends no more, and another poll announces.
        package var passedOn = 0
        package var hasSucceeded: Bool { outcome == .changed || outcome == .unchanged || outcome == .bootstrapped }
        /// `true` if there is something to deliver.
        package var hasStored: Bool { new + refetched + passedOn > 0 }
        /// `true` if the fetch cursor moved, so the watermark can possibly follow.
        package var cursorMoved = false
        /// `true` if a page was rejected for its items or its bytes, so that setting one item aside can help.
        package var isPageRefused = false
        /// Number of items that were set aside.
        package var rejected = 0
    }

    /// Reason for a walk to stop. Indirect, because every call hands it on, and few have one.
    indirect enum Stop: Error {
        case request(RequestFailure)
        case page(PageRejection)
        case staleIdentity
        case interestsChanged

        /// `true` if the bytes of a page are not JSON, or too many, so that a part of it can be readable.
        var isUnreadable: Bool {
            guard case .request(.failed(let failure)) = self else { return false }
            return failure.result == .tooLarge
                || failure.result == .malformed && failure.status.map { (200..<300).contains($0) } ?? false
        }

        /// The same in the words of all layers.
        var failure: APIFailure {
            switch self {
            case .request(let failure): failure.failure
            case .page(let rejection):
                APIFailure(
                    .contract,
                    rejection.sentence
                        ?? "The server's answer broke its contract (\(rejection.violation.rawValue))."
                )
            case .staleIdentity, .interestsChanged: APIFailure(.identityChanged)
            }
        }

        /// The failure to report to the circuit. A local failure says nothing about the server.
        var circuitFailure: FailureClass {
            if case .request(let failure) = self { failure.circuitFailure } else { failure.failureClass }
        }
    }
}

extension PollCycle.Result {
    /// The result of a cycle that the database stopped before its first request.
    init(storeFailure reason: String) {
        self.init(outcome: .failed, failure: APIFailure(.database, reason), isStoreFailure: true)
    }

    /// Says why the walk stopped.
    mutating func describe(_ stop: PollCycle.Stop) {
        let failure = stop.failure
        self.failure = failure
        outcome = failure.failureClass == .cancelled ? .cancelled : .failed
        isPageRefused = stop.isUnreadable
        switch stop {
        case .request(.deferred(let until, _)): (outcome, resumeAt) = (.deferred, until)
        case .request(.noToken): lacksToken = true
        case .request(.unstored): isStoreFailure = outcome == .failed
        case .page(let rejection): isPageRefused = rejection.isOfItems
        case .request(.failed), .staleIdentity, .interestsChanged: break
        }
    }
}
