import MockEndorser
import StarwatchCore
import Testing

@testable import Starwatch

/// The sink of the article "Host sinks".
struct MailSink: HostSink {
    let name = "mail"
    /// Returns `false` if the mail server will never accept the message.
    let send: @Sendable (_ subject: String, _ text: String, _ id: String) async throws -> Bool

    func deliver(_ notification: NotificationMessage) async throws {
        guard try await send(notification.title, notification.body, notification.id) else { throw HostSinkRefusal() }
    }
}

@Suite struct HostSinkArticleTests {
    private actor Inbox {
        private(set) var subjects: [String] = []

        func add(_ subject: String) { subjects.append(subject) }
    }

    @Test(arguments: [true, false]) func theArticlesSinkTakesOrRefusesANotification(accepts: Bool) async throws {
        // A clock that jumps would end the sink's time limit at once.
        try await World.with(.endorser, clock: .waiting) { world in
            let inbox = Inbox()
            let sink = MailSink { subject, _, _ in
                await inbox.add(subject)
                return accepts
            }
            var dependencies = AgentDependencies()
            dependencies.sinks = [sink]
            var options = world.options
            options.polls[0].bootstrap = .beginning
            options.delivery.sinks = []
            let agent = try await Agent(
                options: options,
                time: world.clock,
                logSinks: [world.log],
                dependencies: dependencies.patient,
                random: { 0.5 }
            )
            world.mock.publish(count: 1)
            _ = try await agent.runNow(PollName(World.starred)!)
            #expect(await inbox.subjects.count == 1)
            let expected: DeliveryTry = accepts ? .taken : .refused
            #expect(await agent.page()["starwatch_delivery_attempts_total", expected.labels] == 1)
        }
    }

    private enum DeliveryTry: String {
        case taken = "ok"
        case refused = "rejected"

        var labels: [String: String] { ["sink": "mail", "result": rawValue] }
    }

    /// Compiles the article's last lines.
    private func start(_ send: @escaping @Sendable (String, String, String) async throws -> Bool) async throws {
        var options = AgentOptions()
        options.delivery.sinks = []
        let agent = try await Agent(options: options, sinks: [MailSink(send: send)])
        await agent.close()
    }
}
