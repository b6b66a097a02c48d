import Foundation
import Glibc
import MockEndorser
import ProgramTestKit
import Testing

/// The memory of a running agent, in which keys and names are in clear form.
@Suite(.timeLimit(.minutes(5))) struct MemoryAccessTests {
    /// Nobody, on Debian.
    private static let nobody: uid_t = 65_534

    /// Starts a program as a user without rights, and tells the owner of its `/proc/PID/environ` when it is ready.
    ///
    /// The kernel gives the files of a process that cannot be dumped to root, so that no process of its own user reads them.
    private func owner(
        of program: URL,
        _ arguments: [String],
        environment: [String: String] = [:],
        isReady: @Sendable (pid_t) -> Bool
    ) async throws -> uid_t? {
        let process = Process()
        let isRoot = geteuid() == 0
        process.executableURL = isRoot ? try Program.find("setpriv") : program
        let user = ["--reuid=\(Self.nobody)", "--regid=\(Self.nobody)", "--clear-groups", program.path]
        process.arguments = (isRoot ? user : []) + arguments
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        process.standardInput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        try process.start()
        let pid = process.processIdentifier
        let ready = await eventually { isReady(pid) ? true : nil }
        #expect(ready == true)
        var status = stat()
        let owner = lstat("/proc/\(pid)/environ", &status) == 0 ? status.st_uid : nil
        process.terminate()
        await process.end()
        return owner
    }

    /// Whether a process runs a program, and no longer the one that changed its user.
    private static func runs(_ program: URL, _ pid: pid_t) -> Bool {
        (try? String(contentsOfFile: "/proc/\(pid)/comm", encoding: .utf8))?.hasPrefix(program.lastPathComponent)
            ?? false
    }

    @Test func noOtherProcessOfItsUserReadsTheMemoryOfARunningAgent() async throws {
        let mock = MockServer(options: MockServerOptions())
        try await mock.start()
        let workspace = try Workspace()
        let configuration = TestConfiguration(
            server: mock.url,
            plans: mock.planIDs,
            sinks: "    - {name: log, kind: log}"
        )
        try workspace.write(configuration.yaml(in: workspace), to: "starwatch.yaml")
        if geteuid() == 0 {
            let names = try FileManager.default.contentsOfDirectory(atPath: workspace.url.path)
            for path in [workspace.url.path] + names.map(workspace.path) {
                try FileManager.default.setAttributes([.ownerAccountID: Int(Self.nobody)], ofItemAtPath: path)
            }
        }
        let socket = workspace.path("s.sock")
        let agent = try await owner(
            of: Binary.starwatch,
            ["run", "--config", workspace.path("starwatch.yaml")],
            environment: ["HOME": workspace.url.path, "XDG_RUNTIME_DIR": workspace.url.path]
        ) { _ in FileManager.default.fileExists(atPath: socket) }
        #expect(agent == 0)
        // Another program of that user can be read, so that the test sees the difference.
        let sleep = try Program.find("sleep")
        let other = try await owner(of: sleep, ["60"]) { Self.runs(sleep, $0) }
        #expect(other == (geteuid() == 0 ? Self.nobody : geteuid()))
        try await mock.stop()
    }
}
