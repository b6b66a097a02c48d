import Foundation
import ProgramTestKit
import StarwatchCore
import StarwatchPolling
import StarwatchStore
import Synchronization
import Testing

@testable import Starwatch
@testable import StarwatchHTTP

/// The servers of a real agent.
@Suite(.timeLimit(.minutes(5)))
struct AgentServersTests {
    private func options(_ directory: String) -> AgentOptions {
        var options = AgentOptions()
        options.server.url = "http://127.0.0.1:9"
        options.storage.path = directory + "/starwatch.db"
        options.clock.source = .system
        options.http.listen = "127.0.0.1:0"
        options.control.socket = directory + "/control.sock"
        options.log.level = .critical
        return options
    }

    private func token(in directory: String) throws -> String {
        let path = directory + "/token"
        try Data("a token of some length".utf8).write(to: URL(filePath: path))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
        return path
    }

    private func waitForSocket(_ path: String) async throws {
        while !FileManager.default.fileExists(atPath: path) { try await Task.sleep(for: .milliseconds(5)) }
    }

    @Test func aRunServesTheControlSocketAndAReloadEndsIt() async throws {
        try await withDirectory { directory in
            let options = options(directory)
            var parts = AgentDependencies()
            parts.servers = .http
            // On a busy machine an access of the store may take long, and the status would not wait for it.
            parts.store = { $0.patience = longestWait }
            let agent = try await Agent(options: options, time: SystemClock(), dependencies: parts)
            async let next = agent.run()
            try await waitForSocket(options.control.socket)
            let client = ControlClient(socketPath: options.control.socket, timeout: longestWait)
            #expect(try await client.perform(ControlAPI.status).version == AgentVersion.current)
            #expect(try await HTTPProbe(address: options.control.socket).get("/metrics").status == 200)
            #expect(try await client.perform(ControlAPI.reload).reloaded)
            #expect(try await next == options)
            #expect(!FileManager.default.fileExists(atPath: options.control.socket))
        }
    }

    @Test func anAgentWithoutServersServesNothing() async throws {
        try await withDirectory { directory in
            let options = options(directory)
            let agent = try await Agent(options: options)
            async let next = agent.run()
            while await agent.topics.notReady().contains("starting") { try await Task.sleep(for: .milliseconds(5)) }
            _ = try await agent.perform(ControlAPI.reload)
            #expect(try await next == options)
            #expect(!FileManager.default.fileExists(atPath: options.control.socket))
        }
    }

    @Test func anAddressThatIsNoneEndsTheRun() async throws {
        try await withDirectory { directory in
            var options = options(directory)
            options.http.listen = "9464"
            let agent = try await Agent(options: options, servers: .http)
            let error = await #expect(throws: AgentError.self) { try await agent.run() }
            #expect(error?.kind == .configuration)
            await agent.close()
        }
    }

    /// The next agent could not begin, and this one would have ended by then.
    @Test func aReloadToAnAddressInUseIsRefusedUntilTheAddressIsFree() async throws {
        try await withDirectory { directory in
            let options = options(directory)
            let changed = Mutex(options)
            let agent = try await Agent(options: options, servers: .http) { () throws(AgentError) in
                changed.withLock { $0 }
            }
            // A port that the kernel gives to no other test once it is free.
            let listen = "127.0.0.1:\(try FreePort.take())"
            let other = try HTTPServer(reading: FakeAgent(), listen: listen, logger: quiet)
            let tokenFile = try token(in: directory)
            try await withRunning(other) { address in
                changed.withLock {
                    $0.control.listen = address
                    $0.control.tokenFile = tokenFile
                }
                await #expect { try await agent.perform(ControlAPI.reload) } throws: {
                    ($0 as? ControlError)?.message.contains("is in use by another program") == true
                }
                #expect(agent.reloader.next == nil)
            }
            _ = try await agent.perform(ControlAPI.reload)
            #expect(agent.reloader.next == changed.withLock { $0 })
            await agent.close()
        }
    }

    @Test func theAgentsOwnPortMayBeAskedForAtAnotherAddress() async throws {
        try await withDirectory { directory in
            let other = try HTTPServer(reading: FakeAgent(), listen: "127.0.0.1:0", logger: quiet)
            try await withRunning(other) { address in
                var options = options(directory)
                // As if the agent ran and had it.
                options.control.listen = address
                options.control.tokenFile = try token(in: directory)
                var changed = options
                changed.control.listen = "0.0.0.0:" + (address.split(separator: ":").last ?? "")
                let agent = try await Agent(options: options, servers: .http, reload: { [changed] in changed })
                _ = try await agent.perform(ControlAPI.reload)
                #expect(agent.reloader.next == changed)
                await agent.close()
            }
        }
    }
}
