import ArgumentParser
import Foundation
import Starwatch
import StarwatchCore

struct DeepLinkCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "deeplink",
        abstract: "Check a deep link and print its target.",
        discussion: """
            A shortlink is looked up in the running agent, or in the database if no agent runs. One that is older \
            than 24 hours leads to the list of notifications.

            Examples:
              starwatch deeplink timesafari://notifications/starred-projects
            """
    )

    @Argument(help: "The link, such as timesafari://notifications/starred-projects.")
    var url: String

    @OptionGroup var arguments: AgentArguments

    func run() async throws {
        let target = try await target(of: try link())
        try arguments.format.print(target, \.text)
    }

    private func link() throws(CommandError) -> DeepLink {
        do throws(DeepLinkError) {
            return try DeepLink(parsing: url)
        } catch {
            throw .usage(error.description)
        }
    }

    private func target(of link: DeepLink) async throws(CommandError) -> DeepLinkTarget {
        guard case .shortlink(let shortlink) = link else { return DeepLinkTarget(link) }
        do throws(CommandError) {
            let found = try await arguments.access.perform { agent throws(ControlError) in
                try await agent.shortlinkShow(shortlink)
            }
            return DeepLinkTarget(found)
        } catch {
            guard case .control(let refusal) = error, refusal.kind == .notFound else { throw error }
            FileHandle.standardError.write(Data("starwatch: \(TerminalText.printable(refusal.message))\n".utf8))
            return DeepLinkTarget(.notifications)
        }
    }
}

/// The target of a link, for people and programs.
struct DeepLinkTarget: Encodable, Hashable {
    /// `updates`, `project`, `notifications` or `feature`.
    var route: String
    var project: String?
    var claims: [String] = []
    /// The plans of a shortlink's claims, in the same order.
    var plans: [String]?
    var link: String?

    enum CodingKeys: String, CodingKey {
        case route
        case project = "project_id"
        case claims = "jwt_ids"
        case plans = "plan_ids"
        case link
    }

    init(_ link: DeepLink) {
        self.link = link.url
        switch link {
        case .updates(let claims): (route, self.claims) = ("updates", claims.ids.map(\.rawValue))
        case .shortlink: route = "updates"
        case .project(let handle, let claim):
            (route, project, claims) = ("project", handle.rawValue, claim.map { [$0.rawValue] } ?? [])
        case .notifications: route = "notifications"
        case .feature: route = "feature"
        }
    }

    init(_ report: ShortlinkReport) {
        route = "updates"
        claims = report.changes.map(\.jwtID)
        plans = report.changes.map(\.plan)
    }

    /// The target as lines of names and values.
    var text: String {
        var pairs = [("Route", route)]
        if let link { pairs.append(("Link", link)) }
        if let project { pairs.append(("Project", project)) }
        for (index, claim) in claims.enumerated() {
            pairs.append(("Claim", plans.map { "\(claim)  \($0[index])" } ?? claim))
        }
        return TextTable.pairs(pairs)
    }
}
