import StarwatchCore
import StarwatchTransport

extension Agent {
    package func testSink(_ name: String) async throws(ControlError) -> SinkTestReport {
        try await counted(.sinkTest) {
            guard let slot = sinks.first(where: { $0.name == name }) else {
                let names = sinks.map(\.name).joined(separator: ", ")
                throw ControlError(.notFound, "There is no sink of that name; the sinks are \(names).")
            }
            let id = RandomID.notificationID()
            let message = NotificationMessage(test: id, runID: RandomID.runID(), sink: name, createdAt: clock.now)
            let start = time.monotonic
            let result = await slot.sink.deliver(OutgoingNotification(message))
            return SinkTestReport(
                sink: name,
                notificationID: id,
                result: result.answer,
                error: result.failure?.sentence,
                tookMilliseconds: Int((time.monotonic - start).inSeconds * 1000)
            )
        }
    }
}
