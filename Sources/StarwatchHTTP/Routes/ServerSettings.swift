import Starwatch
import StarwatchCore
import StarwatchPolling

struct ServerSettings: Sendable {
    /// Returns the URL of the pages for a program on this machine, once they are served; `nil` if it is not known.
    var pages: @Sendable () async -> String? = { nil }
    /// The URL of the dashboards, which the pages link to.
    var dashboards: String?
    /// The names that `Host` can contain, besides addresses and `localhost`.
    var allowedHosts: [String] = []
    /// The words beside those of notifications.
    var catalogues = MessageCatalogues.builtIn
    /// The web configuration of the server's port; `nil` for clear text without passwords.
    var security: PortSecurity?
    /// The check of the passwords. It remembers the right ones.
    var passwordCheck = PasswordCheck()
    /// The private addresses of feeds; `nil` if there are none.
    var feeds: FeedAddresses?
    var limits = ConnectionLimits()
    /// The time limit for requests in progress at shutdown. Then their connections are closed.
    var shutdownGrace = Duration.seconds(5)
    /// A monotonic time.
    var now: @Sendable () -> Duration = { SystemClock().monotonic }
}

extension ServerSettings {
    /// The access check of a port on TCP.
    ///
    /// - Parameter token: `nil` for the users' passwords. With `nil` and no web configuration there are no users, and everybody is
    ///   let in.
    func access(_ token: AccessPolicy.Credential?) -> AccessPolicy {
        let passwords = security.map { security in
            AccessPolicy.Credential.password(passwordCheck, users: { security.active.configuration.users })
        }
        guard let credential = token ?? passwords else { return AccessPolicy(.nothing, now: now) }
        return AccessPolicy(credential, feeds: feeds, now: now)
    }
}

/// The private addresses of feeds, which let in whoever knows the token in them.
struct FeedAddresses: Sendable {
    /// Returns the right token for a given one, for every request; `nil` if there is none.
    let key: @Sendable (_ given: String) async throws -> FeedKey?
    /// Whether the text was the token in a former address of the feed.
    var isFormer: @Sendable (String) -> Bool = { _ in false }
    /// The sentence about a token that cannot be read.
    var problem = "The token cannot be read; check control.feed_token_file."
    /// The answer to a wrong token for the only feed.
    let refusal = Answer.error(403, "forbidden", "The feed has another address now; 'starwatch feed url' prints it.")
    /// Whether the feeds are those of many accounts. A wrong token then gets the answer of any page without a credential.
    var areOfAccounts = false

    /// The addresses of many accounts. Nothing tells that there are any.
    static func ofAccounts(_ agent: any ServedAgent) -> FeedAddresses {
        FeedAddresses(
            key: { try await agent.feedKey(for: $0) },
            problem: "The database does not answer; try again later.",
            areOfAccounts: true
        )
    }
}
