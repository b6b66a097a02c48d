/// How a poll of a host application ended.
package enum HostPollOutcome: String, Sendable, CaseIterable {
    case ok, empty
    case notModified = "not_modified"
    case failed, cancelled

    init<Response>(_ outcome: PollResult<Response>.Outcome) {
        self =
            switch outcome {
            case .value: .ok
            case .empty: .empty
            case .notModified: .notModified
            case .failure(let error): error.code == .cancelled ? .cancelled : .failed
            }
    }
}
