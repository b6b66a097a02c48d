import ArgumentParser
import Foundation
import Starwatch
import StarwatchCore

struct DeepLinkCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        "deeplink",
        "Check a deep link and print its target.",
        """
        A shortlink is looked up in the running agent, or in the database if no agent runs. One that is older \
        than 24 hours leads to the list of notifications.
        """,
        examples: ["starwatch deeplink timesafari://notifications/starred-projects"]
    )

    @Argument(help: "The link, such as timesafari://notifications/starred-projects.")
    var url: String

    @OptionGroup var arguments: AgentArguments

    func run() async throws {
        let target = try await target(of: try link())
        try arguments.print(target, \.text)
    }

    private func link() throws(CommandError) -> DeepLink {
        do throws(DeepLinkError) {
            return try DeepLink(parsing: url)
        } catch {
            throw .usage(error.description)
        }
    }

    private func target(of link: DeepLink) async throws -> DeepLinkTarget {
        guard case .shortlink(let shortlink) = link else { return DeepLinkTarget(link) }
        do {
            return DeepLinkTarget(try await arguments.ask(ControlAPI.showShortlink, shortlink))
        } catch let refusal as ControlError where refusal.kind == .notFound {
            StandardError.say("starwatch: \(TerminalText.printable(refusal.message))", .error)
            return DeepLinkTarget(.notifications)
        }
    }
}

/// The target of a link, for people and programs.
struct DeepLinkTarget: Encodable, Hashable {
    /// `updates`, `project`, `notifications` or `feature`.
    var route: String
    var projectID: String?
    var jwtIDs: [String] = []
    /// The plans of a shortlink's claims, in the same order.
    var planIDs: [String]?
    var link: String?

    init(_ link: DeepLink) {
        self.link = link.url
        switch link {
        case .updates(let claims): (route, jwtIDs) = ("updates", claims.ids.map(\.rawValue))
        case .shortlink: route = "updates"
        case .project(let handle, let claim):
            (route, projectID, jwtIDs) = ("project", handle.rawValue, claim.map { [$0.rawValue] } ?? [])
        case .notifications: route = "notifications"
        case .feature: route = "feature"
        }
    }

    init(_ report: ShortlinkReport) {
        route = "updates"
        jwtIDs = report.changes.map(\.jwtID)
        planIDs = report.changes.map(\.plan)
    }

    /// The target as lines of names and values.
    var text: String {
        var pairs = [("Route", route)]
        if let link { pairs.append(("Link", link)) }
        if let projectID { pairs.append(("Project", projectID)) }
        for (index, claim) in jwtIDs.enumerated() {
            pairs.append(("Claim", planIDs.map { "\(claim)  \($0[index])" } ?? claim))
        }
        return TextTable.pairs(pairs)
    }
}
