import Starwatch
import StarwatchCore

struct MailSink: HostSink {
    let name = "mail"
    /// Returns `false` if the mail server will never accept the message.
    let send: @Sendable (_ subject: String, _ text: String, _ id: String) async throws -> Bool

    func deliver(_ notification: NotificationMessage) async throws {
        guard try await send(notification.title, notification.body, notification.id) else { throw HostSinkRefusal() }
    }
}
