import Foundation
import Logging
import ServiceLifecycle
import Starwatch
import StarwatchCore
import UnixSignals

/// Writes a mail for each notification: `MailSpool SERVER FOLDER DID PLAN…`.
///
/// The article "Host sinks" of the library's documentation explains it.
@main
struct MailSpool {
    static func main() async throws {
        let arguments = Array(CommandLine.arguments.dropFirst())
        guard arguments.count >= 4, let did = DID(arguments[2]) else {
            fatalError("Usage: MailSpool SERVER FOLDER DID PLAN…")
        }
        let folder = URL(filePath: arguments[1])
        let spool = Spool(folder: folder)
        let send: @Sendable (String, String, String) async throws -> Bool = { subject, text, id in
            try spool.put(subject: subject, text: text, id: id)
        }

        var options = AgentOptions()
        options.delivery.sinks = []
        options.delivery.groupInterval = .seconds(1)
        options.server.url = arguments[0]
        options.initialIdentity = did
        options.storage.path = folder.appending(path: "mail.db").path
        var poll = PollOptions(name: PollName("starred_projects")!, kind: .starredProjects)
        poll.timing = .every(.seconds(1))
        poll.planIDs = Array(arguments[3...])
        options.polls = [poll]
        let agent = try await Agent(options: options, sinks: [MailSink(send: send)])

        let group = ServiceGroup(
            services: [AgentService(agent)],
            gracefulShutdownSignals: [.sigterm, .sigint],
            logger: Logger(label: "mail", factory: { _ in SwiftLogNoOpLogHandler() })
        )
        try await group.run()
    }
}
