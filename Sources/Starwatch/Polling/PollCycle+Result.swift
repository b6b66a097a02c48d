package import StarwatchCore
import StarwatchPolling
import StarwatchStore
import StarwatchTransport

extension PollCycle {
    package struct Result: Sendable, Hashable {
        /// Outcome; `nil` if the cycle was skipped.
        package var outcome: PollOutcome?
        package var skip: SkipReason?
        /// Failure class; `nil` unless a request failed.
        package var failure: FailureClass?
        /// Reason for the failure as one fixed sentence; `nil` otherwise.
        package var reason: String?
        /// The same from a closed set; also for a cycle that was skipped because it has no token.
        package var cause: FailureReason?
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
        case store(StoreError)

        /// `true` if the bytes of a page are not JSON, or too many, so that a part of it can be readable.
        var isUnreadable: Bool {
            guard case .request(.failed(let failure)) = self else { return false }
            return failure.result == .tooLarge
                || failure.result == .malformed && failure.status.map { (200..<300).contains($0) } ?? false
        }

        /// The failure to report to the circuit. A local failure says nothing about the server.
        var circuitFailure: FailureClass {
            switch self {
            case .request(let failure): failure.circuitFailure
            case .page: .malformed
            case .staleIdentity, .interestsChanged, .store: .cancelled
            }
        }
    }
}

extension PollCycle.Result {
    /// The result of a cycle that the database stopped before its first request.
    init(storeFailure reason: String) {
        self.init(outcome: .failed, reason: reason, cause: FailureReason(.database), isStoreFailure: true)
    }

    /// Says why the walk stopped.
    mutating func describe(_ stop: PollCycle.Stop) {
        outcome = .failed
        if case .page(let rejection) = stop { isPageRefused = rejection.isOfItems }
        if stop.isUnreadable { isPageRefused = true }
        switch stop {
        case .request(.deferred(let until, let failure)):
            outcome = .deferred
            cause = failure?.cause ?? FailureReason(.rateLimit)
            resumeAt = until
            reason = cause?.sentence
        case .request(.failed(let failed)):
            failure = failed.failureClass
            reason = failed.reason
            cause = failed.cause
            if failed.failureClass == .cancelled { outcome = .cancelled }
        case .request(.noToken(let error)):
            failure = .unauthenticated
            lacksToken = true
            cause = FailureReason((error as? TokenError)?.cause ?? .noToken)
            reason = (error as? TokenError)?.description ?? cause?.sentence
        case .page(let rejection):
            failure = .malformed
            cause = FailureReason(.contract)
            reason = "The server's answer broke its contract (\(rejection.violation.rawValue))."
        case .staleIdentity, .interestsChanged, .store(.leaseLost), .request(.unstored(.leaseLost)):
            outcome = .cancelled
            failure = .cancelled
            cause = FailureReason(.identityChanged)
            reason = cause?.sentence
        case .store(let error), .request(.unstored(let error)):
            isStoreFailure = true
            cause = FailureReason(.database)
            reason = error.description
        }
    }
}
