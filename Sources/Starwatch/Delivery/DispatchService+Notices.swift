import StarwatchCore
import StarwatchStore

extension DispatchService {
    /// Makes notifications of the notices of new features that the account is still to get.
    ///
    /// A notice has its id before that, so a crash cannot make two of it.
    func makeNotices(of account: DID) async throws(StoreError) {
        let active = sinks.filter { !$0.isDisabled }.map(\.name)
        guard !active.isEmpty else { return }
        for notice in try await store.openNotices(of: account) {
            guard let feature = FeatureNotification(rawValue: notice.feature), let poll = PollName(notice.feature)
            else { continue }
            let message = NotificationMessage(
                feature: feature,
                id: notice.token,
                runID: "run_" + notice.token.dropFirst("ntf_".count).prefix(16),
                messages: messages,
                createdAt: notice.createdAt
            )
            try await store.announce(
                notice,
                on: StreamKey(account: account, server: server, poll: poll),
                OutgoingNotification(message),
                sinks: active,
                now: clock.now
            )
        }
    }
}
