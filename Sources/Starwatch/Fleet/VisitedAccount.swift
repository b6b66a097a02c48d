import StarwatchCore
import StarwatchPolling

/// The services of one account that a ``Visit`` uses.
protocol VisitedAccount: Sendable {
    var account: Account { get }
    var polls: [Poll] { get }
    var pollService: PollService { get }
    var dispatcher: DispatchService { get }
    /// Whether each visit must look whether the data became stale.
    var noticesStaleness: Bool { get }
    var acknowledger: AcknowledgeService { get }

    /// Cancels the account's work, because it is no longer served, and returns when it has ended.
    func abort() async
}
