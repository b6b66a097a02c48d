import StarwatchCore
import StarwatchPolling
import StarwatchStore
import StarwatchTransport

/// Test notifications to single sinks, and the ends of their waits.
struct SinkControl: Sendable {
    let sinks: [SinkSlot]
    let identity: IdentityContext
    let store: Store
    let environment: Environment
    let pseudonym: InstallationHash
    /// Wakes the dispatcher.
    let wake: Wake

    /// Sends one test notification of each form, past the sink's queue, circuit and counters.
    ///
    /// After an answer that is not about the notification, such as a timeout, no further one is sent.
    func test(_ name: String) async throws -> SinkTestReport {
        let slot = try slot(name)
        // A sink can be tested whatever the database's state.
        let account = try? await identity.owner()
        if slot.isOfAccounts, account == nil {
            throw Self.needsAccount
        }
        let receiver = try await receiver(of: slot, account)
        let runID = RandomID.runID()
        var messages: [SinkTestReport.Message] = []
        for test in TestNotification.allCases {
            var message = NotificationMessage(
                test,
                id: RandomID.notificationID(),
                runID: runID,
                sink: name,
                createdAt: environment.clock.now
            )
            if identity.served != nil { message.account = account.map(pseudonym.hash) }
            let report = await report(of: test, OutgoingNotification(message), at: receiver)
            messages.append(report)
            guard [.ok, .rejected].contains(report.result) else { break }
        }
        return SinkTestReport(sink: name, messages: messages)
    }

    /// Lets notifications that wait for a sink be sent at once: by the hours of the sink, and unless its circuit is open.
    func clearWait(_ name: String) async throws -> SinkWaitReport {
        let slot = try slot(name)
        guard let account = try await identity.current().identity.did else {
            guard !slot.isOfAccounts, identity.served == nil else { throw Self.needsAccount }
            return SinkWaitReport(waitedUntil: SinkReceiver(slot).clearWaits()?.iso8601, notifications: 0)
        }
        let receiver = try await SinkReceiver.all([slot], of: account, in: store).first
        let asked = receiver?.clearWaits() ?? nil
        let (count, latest) = try await store.deliveries.endWaits(for: name, of: account, now: environment.clock.now)
        wake.raise()
        let end = [asked, latest].compactMap(\.self).max()
        return SinkWaitReport(waitedUntil: end?.iso8601, notifications: count)
    }

    private func slot(_ name: String) throws(ControlError) -> SinkSlot {
        if let slot = sinks.first(where: { $0.name == name }) { return slot }
        let names = sinks.map(\.name).joined(separator: ", ")
        throw ControlError(.notFound, "There is no sink of that name; the sinks are \(names).")
    }

    private static let needsAccount = ControlError(
        .conflict,
        "Each account brings the address of this sink; name one with --account."
    )

    private func report(
        of test: TestNotification,
        _ notification: OutgoingNotification,
        at receiver: SinkReceiver
    ) async -> SinkTestReport.Message {
        let start = environment.time.monotonic
        let result = await receiver.deliver(notification)
        let took = environment.time.monotonic - start
        // The answer to an accepted notification explains nothing, and can name the people of a chat.
        let words = result.answer == .ok ? nil : result.words(hiding: receiver.sink.secrets)
        return SinkTestReport.Message(
            message: test,
            notificationID: notification.id,
            result: result.answer,
            error: result.failure?.sentence,
            answer: words,
            tookMilliseconds: Int(took.inSeconds * 1000)
        )
    }

    /// The receiver of an account's notifications, or the sink without an account.
    private func receiver(of slot: SinkSlot, _ account: DID?) async throws -> SinkReceiver {
        guard let account else { return SinkReceiver(slot) }
        guard let receiver = try await SinkReceiver.all([slot], of: account, in: store).first else {
            throw ControlError(
                .conflict,
                "The account has no address for this sink, or it is gone; add it with starwatch accounts add."
            )
        }
        return receiver
    }
}
