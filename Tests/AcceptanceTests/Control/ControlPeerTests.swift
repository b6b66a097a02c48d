import Foundation
import Glibc
import Testing

/// The programs that the command line takes for the agent on a control socket.
@Suite struct ControlPeerTests {
    @Test(.enabled(if: geteuid() == 0, "Only root can start a program as another user."), arguments: [true, false])
    func rootTrustsTheAgentOfAnotherUserOnlyInThatUsersFolder(isOwn: Bool) async throws {
        let workspace = try Workspace()
        let (own, shared) = (workspace.path("own"), workspace.path("shared"))
        for (folder, owner, mode) in [(own, 4_000_000, 0o755), (shared, 0, 0o1777)] {
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
            try FileManager.default.setAttributes(
                [.ownerAccountID: owner, .posixPermissions: mode],
                ofItemAtPath: folder
            )
        }
        let socket = (isOwn ? own : shared) + "/s.sock"
        try workspace.write(
            """
            server: {url: "http://127.0.0.1:1"}
            storage: {path: \(own)/starwatch.db}
            http: {listen: "127.0.0.1:0"}
            control: {socket: \(socket)}
            """,
            to: "starwatch.yaml"
        )
        let config = workspace.path("starwatch.yaml")
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: config)
        let log = workspace.url.appending(path: "log")
        let agent = try RunningProgram(
            "setpriv",
            ["--reuid=4000000", "--clear-groups", Binary.starwatch.path, "run", "--config", config],
            log: log
        )
        let isThere = await eventually { FileManager.default.fileExists(atPath: socket) ? true : nil }
        try #require(isThere == true, "\((try? String(contentsOf: log, encoding: .utf8)) ?? "")")

        let result = try await starwatch("stars", "list", "--socket", socket)
        #expect(result.errors.contains("Another user's program listens on \(socket)") == !isOwn, "\(result.errors)")
        if !isOwn { #expect(result.status == 1) }
        await agent.stop()
    }
}
