import StarwatchCore
import StarwatchStore

extension DispatchService {
    /// Creates notifications for the new-feature notices that the account has not received yet.
    ///
    /// Each notice already has its id, so a crash cannot create two notifications from one notice.
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
