import FoundationEssentials
import Glibc
import NIOHTTP1
import ProgramTestKit
import StarwatchCore
import Testing

@testable import Starwatch
@testable import StarwatchHTTP

/// The file of the control socket.
@Suite(.timeLimit(.minutes(5)))
struct ControlSocketTests {
    @Test func onlyTheOwnerMayOpenTheSocketAndNothingElseIsLeftBeside() async throws {
        try await withDirectory { directory in
            let server = HTTPServer(agent: FakeAgent(), socketPath: directory + "/s.sock", logger: quiet)
            try await withRunning(server) { path in
                #expect(path == directory + "/s.sock")
                let attributes = try FileManager.default.attributesOfItem(atPath: path)
                #expect(String(describing: try #require(attributes[.posixPermissions])) == String(0o600))
                #expect(attributes[.type] as? FileAttributeType == .typeSocket)
                #expect(try FileManager.default.contentsOfDirectory(atPath: directory) == ["s.sock"])
            }
            #expect(try FileManager.default.contentsOfDirectory(atPath: directory).isEmpty)
        }
    }

    @Test func theSocketOfADeadAgentIsReplaced() async throws {
        try await withDirectory { directory in
            let path = directory + "/s.sock"
            try leaveDeadSocket(at: path)
            await #expect {
                _ = try await ControlClient(socketPath: path).perform(ControlAPI.reload)
            } throws: {
                ($0 as? ControlError)?.kind == .unreachable
            }
            try await withRunning(HTTPServer(agent: FakeAgent(), socketPath: path, logger: quiet)) {
                _ = try await ControlClient(socketPath: $0, timeout: longestWait).perform(ControlAPI.reload)
            }
        }
    }

    @Test func theSocketOfALiveAgentIsLeftAlone() async throws {
        let agent = FakeAgent()
        try await withControl(agent) { path, client in
            let second = HTTPServer(agent: FakeAgent(), socketPath: path, logger: quiet)
            let error = await #expect(throws: AgentError.self) { try await withRunning(second) { _ in } }
            #expect(error == .agentRunning(path: path))
            _ = try await client.perform(ControlAPI.reload)
        }
        #expect(agent.now.calls == ["POST /api/v1/reload"])
    }

    @Test func ofTwoAgentsThatStartTogetherOneRuns() async throws {
        try await withDirectory { directory in
            let path = directory + "/s.sock"
            try leaveDeadSocket(at: path)
            let agents = [FakeAgent(), FakeAgent()]
            let servers = agents.map { HTTPServer(agent: $0, socketPath: path, logger: quiet) }
            let isOver = AsyncStream<Void>.makeStream()
            let results = await withTaskGroup(of: Result<Void, any Error>.self) { group in
                for server in servers {
                    group.addTask {
                        do {
                            try await withRunning(server) { _ in for await _ in isOver.stream {} }
                            return .success(())
                        } catch {
                            return .failure(error)
                        }
                    }
                }
                var results: [Result<Void, any Error>] = []
                for await result in group {
                    results.append(result)
                    isOver.continuation.finish()
                }
                return results
            }
            let failures = results.compactMap { result in
                if case .failure(let error) = result { error as? AgentError } else { nil }
            }
            #expect(failures == [.agentRunning(path: path)])
        }
    }

    @Test func aFileInThePlaceOfTheSocketIsNotRemoved() async throws {
        try await withDirectory { directory in
            let path = directory + "/s.sock"
            try Data("mine".utf8).write(to: URL(filePath: path))
            let server = HTTPServer(agent: FakeAgent(), socketPath: path, logger: quiet)
            await #expect {
                try await withRunning(server) { _ in }
            } throws: {
                ($0 as? AgentError)?.message.hasPrefix("Cannot create the control socket") == true
            }
            #expect(try Data(contentsOf: URL(filePath: path)) == Data("mine".utf8))
        }
    }

    @Test func aLinkInThePlaceOfTheSocketIsNotFollowed() async throws {
        try await withDirectory { directory in
            let (path, target) = (directory + "/s.sock", directory + "/elsewhere")
            try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: target)
            await #expect(throws: AgentError.self) {
                try await withRunning(HTTPServer(agent: FakeAgent(), socketPath: path, logger: quiet)) { _ in }
            }
            #expect(try FileManager.default.contentsOfDirectory(atPath: directory) == ["s.sock"])
        }
    }

    @Test(arguments: [(0o777, false), (0o1777, true), (0o755, true), (0o775, false)])
    func aDirectoryWhereOthersCanPutASocketOfTheirOwnIsNoPlace(mode: Int, isGood: Bool) async throws {
        try await withDirectory { directory in
            try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: directory)
            let server = HTTPServer(agent: FakeAgent(), socketPath: directory + "/s.sock", logger: quiet)
            do {
                try await withRunning(server) { _ in }
                #expect(isGood)
            } catch let error as AgentError {
                #expect(!isGood && error.message.hasPrefix("Cannot create the control socket"))
            }
        }
    }

    @Test(.enabled(if: geteuid() == 0, "Only root can change an owner."))
    func aDirectoryOfAnotherUserIsNoPlace() async throws {
        try await withDirectory { directory in
            try FileManager.default.setAttributes([.ownerAccountID: 4_000_000], ofItemAtPath: directory)
            let server = HTTPServer(agent: FakeAgent(), socketPath: directory + "/s.sock", logger: quiet)
            let error = await #expect(throws: AgentError.self) { try await withRunning(server) { _ in } }
            #expect(error.map(String.init(describing:))?.contains("belongs to another user") == true)
            #expect(try FileManager.default.contentsOfDirectory(atPath: directory).isEmpty)
        }
    }

    @Test func aPlaceWithoutDirectoryOrTooLongIsOneClearSentence() async throws {
        try await withDirectory { directory in
            for path in [directory + "/none/s.sock", directory + "/" + String(repeating: "x", count: 100)] {
                let server = HTTPServer(agent: FakeAgent(), socketPath: path, logger: quiet)
                await #expect {
                    try await withRunning(server) { _ in }
                } throws: {
                    ($0 as? AgentError)?.message.hasPrefix("Cannot create the control socket") == true
                }
            }
        }
    }

    private func leaveDeadSocket(at path: String) throws {
        let socket = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(socket) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let code = withUnsafePointer(to: address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(socket, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        try #require(code == 0)
    }
}
