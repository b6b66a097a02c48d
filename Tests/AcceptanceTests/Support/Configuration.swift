import Foundation

/// The configuration of an agent under test. Ports are free ones, files are the workspace's.
struct TestConfiguration {
    var server: String
    /// Lines of the section besides the address.
    var serverLines = ""
    /// Whether the agent serves many accounts, each with plans of its own.
    var isOfMany = false
    var plans: [String]
    var did = "did:ethr:0x00000000000000000000000000000000000000aa"
    var every = "1s"
    var bootstrap = "beginning"
    var groupInterval = "1s"
    var staleAfter = "4h"
    var sinks: String
    var auth = "kind: none"
    var logLevel = "debug"
    /// Listen address of the control API over TCP.
    var controlAddress: String?
    /// File of the token in the feed's address.
    var feedTokenFile: String?
    /// Lines of the section besides the rate.
    var limits = ""
    var requestsPerMinute = 10000
    /// Further polls, each on one line.
    var polls: [String] = []
    /// Lines of the section besides the address and the dashboards.
    var http = ""
    var dashboards = "null"
    /// Whether the database is encrypted.
    var isEncrypted = Self.isRunEncrypted

    /// Whether databases of this run of the tests are encrypted. `scripts/test --full` runs the crash tests with both.
    static let isRunEncrypted = ProcessInfo.processInfo.environment["STARWATCH_TEST_SEALED"] == "1"

    func yaml(in workspace: Workspace) -> String {
        """
        server:
          url: \(server)
          \(serverLines)
        \(isOfMany ? "accounts: many\nfleet: {requests_per_second: 10000}" : "identity: {did: \"\(did)\"}")
        auth:
          \(auth)
        storage:
          path: \(workspace.path("starwatch.db"))
        security:
          master_key_file: \(isEncrypted ? workspace.path("master.key") : "null")
        polls:
          starred_projects:
            kind: starred_projects
            every: \(every)
            bootstrap: \(bootstrap)
            stale_after: \(staleAfter)
            \(isOfMany ? "" : "plan_ids: [\(plans.map { "\"\($0)\"" }.joined(separator: ", "))]")
          \(polls.joined(separator: "\n  "))
        limits:
          requests_per_minute: \(requestsPerMinute)
          \(limits)
        delivery:
          group_interval: \(groupInterval)
          sinks:
        \(sinks)
        http:
          listen: 127.0.0.1:0
          dashboards_url: \(dashboards)
          \(http)
        control:
          socket: \(workspace.path("s.sock"))
          \(controlAddress.map { "listen: \($0)\n  token_file: \(workspace.path("token"))" } ?? "")
          \(feedTokenFile.map { "feed_token_file: \($0)" } ?? "")
        log:
          level: \(logLevel)

        """
    }

    /// A sink that appends to `notifications.jsonl`.
    static func file(_ workspace: Workspace) -> String {
        """
            - name: file
              kind: file
              path: \(workspace.path("notifications.jsonl"))
        """
    }

    static func webhook(_ url: String) -> String {
        """
            - name: hook
              kind: webhook
              url: \(url)/hook
        """
    }
}
