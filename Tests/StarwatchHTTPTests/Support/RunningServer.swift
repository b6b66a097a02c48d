import FoundationEssentials
import Logging
import ProgramTestKit
import ServiceLifecycle

@testable import Starwatch
@testable import StarwatchHTTP

struct NotBound: Error {}

var quiet: Logger { Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }) }

extension ConnectionLimits {
    /// Limits for clients that get no processor for a while, as on a busy machine.
    static var patient: ConnectionLimits {
        var limits = ConnectionLimits()
        (limits.idle, limits.request, limits.answer) = (longestWait, longestWait, longestWait)
        return limits
    }
}

/// Runs `server` in a service group, hands its address to `body`, and shuts it down gracefully.
func withRunning<Result>(_ server: HTTPServer, _ body: (String) async throws -> Result) async throws -> Result {
    let group = ServiceGroup(configuration: .init(services: [server], logger: quiet))
    return try await withThrowingTaskGroup(of: Void.self) { tasks in
        tasks.addTask { try await group.run() }
        guard let address = await server.boundAddress() else {
            try await tasks.waitForAll()
            throw NotBound()
        }
        do {
            let result = try await body(address)
            await group.triggerGracefulShutdown()
            try await tasks.waitForAll()
            return result
        } catch {
            await group.triggerGracefulShutdown()
            throw error
        }
    }
}

func withAdmin<Result>(_ agent: FakeAgent, _ body: (HTTPProbe) async throws -> Result) async throws -> Result {
    // The time stands still, so that waits do not depend on this machine.
    let server = try HTTPServer(
        reading: agent,
        listen: "127.0.0.1:0",
        settings: ServerSettings(limits: .patient, now: { .zero }),
        logger: quiet
    )
    return try await withRunning(server) { try await body(HTTPProbe(address: $0)) }
}

/// A fresh directory, removed afterwards.
func withDirectory<Result>(_ body: (String) async throws -> Result) async throws -> Result {
    let path = FileManager.default.temporaryDirectory.path + "/sw-" + String(UInt64.random(in: 0 ... .max), radix: 36)
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: path) }
    return try await body(path)
}

/// Serves the control API of `agent` on a socket.
func withControl<Result>(
    _ agent: FakeAgent,
    _ body: (_ path: String, _ client: ControlClient) async throws -> Result
) async throws -> Result {
    try await withDirectory { directory in
        let server = HTTPServer(
            agent: agent,
            socketPath: directory + "/s.sock",
            settings: ServerSettings(limits: .patient),
            logger: quiet
        )
        return try await withRunning(server) { try await body($0, ControlClient(socketPath: $0, timeout: longestWait)) }
    }
}
