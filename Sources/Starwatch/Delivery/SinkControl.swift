import StarwatchCore
import StarwatchPolling
import StarwatchStore
import StarwatchTransport

/// Test notifications to single sinks.
struct SinkControl: Sendable {
    let sinks: [SinkSlot]
    let identity: IdentityContext
    let store: Store
    let environment: Environment
    let pseudonym: IdentityHash

    /// Sends a test notification, past the sink's queue, circuit and counters.
    func test(_ name: String) async throws -> SinkTestReport {
        guard let slot = sinks.first(where: { $0.name == name }) else {
            let names = sinks.map(\.name).joined(separator: ", ")
            throw ControlError(.notFound, "There is no sink of that name; the sinks are \(names).")
        }
        // A sink can be tested whatever the database's state.
        let account = if let served = identity.served { served } else { try? await identity.stored().did }
        if slot.isOfAccounts, account == nil {
            throw ControlError(.conflict, "Each account brings the address of this sink; name one with --account.")
        }
        let id = RandomID.notificationID()
        let now = environment.clock.now
        var message = NotificationMessage(test: id, runID: RandomID.runID(), sink: name, createdAt: now)
        if identity.served != nil { message.account = account.map(pseudonym.hash) }
        let start = environment.time.monotonic
        let result = try await deliver(OutgoingNotification(message), to: slot, of: account)
        return SinkTestReport(
            sink: name,
            notificationID: id,
            result: result.answer,
            error: result.failure?.sentence,
            tookMilliseconds: Int((environment.time.monotonic - start).inSeconds * 1000)
        )
    }

    private func deliver(
        _ notification: OutgoingNotification,
        to slot: SinkSlot,
        of account: DID?
    ) async throws -> SinkResult {
        guard let account else { return await slot.sink.deliver(notification) }
        guard let receiver = try await SinkReceiver.all([slot], of: account, in: store).first else {
            throw ControlError(
                .conflict,
                "The account has no address for this sink, or it is gone; add it with starwatch accounts add."
            )
        }
        return await receiver.deliver(notification)
    }
}
