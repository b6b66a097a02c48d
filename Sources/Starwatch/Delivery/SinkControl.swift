import StarwatchCore
import StarwatchPolling
import StarwatchTransport

/// Test notifications to single sinks.
struct SinkControl: Sendable {
    let sinks: [SinkSlot]
    let environment: Environment

    /// Sends a test notification, past the sink's queue, circuit and counters.
    func test(_ name: String) async throws -> SinkTestReport {
        guard let slot = sinks.first(where: { $0.name == name }) else {
            let names = sinks.map(\.name).joined(separator: ", ")
            throw ControlError(.notFound, "There is no sink of that name; the sinks are \(names).")
        }
        let id = RandomID.notificationID()
        let now = environment.clock.now
        let message = NotificationMessage(test: id, runID: RandomID.runID(), sink: name, createdAt: now)
        let start = environment.time.monotonic
        let result = await slot.sink.deliver(OutgoingNotification(message))
        return SinkTestReport(
            sink: name,
            notificationID: id,
            result: result.answer,
            error: result.failure?.sentence,
            tookMilliseconds: Int((environment.time.monotonic - start).inSeconds * 1000)
        )
    }
}
