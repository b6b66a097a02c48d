import Foundation
import Glibc
import Testing

/// Clients in numbers that no agent expects.
@Suite(.serialized) struct CrowdTests {
    @Test func aThousandConnectionsThatSayNothingKeepNobodyOutAndGoAgain() async throws {
        Self.allowManyFiles()
        let workspace = try Workspace()
        let configuration = TestConfiguration(
            server: "http://127.0.0.1:1",
            plans: [],
            sinks: "    - name: log\n      kind: log"
        )
        try workspace.write(configuration.yaml(in: workspace), to: "starwatch.yaml")
        let agent = try await RunningAgent(config: workspace.path("starwatch.yaml"), in: workspace)
        let pages = agent.pages
        let before = try #require(try await pages.metric("process_open_fds"))
        let memory = try #require(try await pages.metric("process_resident_memory_bytes"))

        // A third says nothing, a third half a head, and a third does not read what it asked for.
        let requests = [
            "", "GET /metrics HTTP/1.1\r\nHost: localhost\r\nX-A:", "GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n",
        ]
        let port = try #require(agent.address.split(separator: ":").last.flatMap { UInt16($0) })
        let crowd = try (0..<1000).map { try Socket(port: port, saying: requests[$0 % 3]) }
        #expect(try await pages.get("/-/healthy") == #"{"healthy":true}"#)
        #expect(try await pages.get("/metrics").contains("starwatch_build_info"))
        #expect(try #require(try await pages.metric("process_open_fds")) < before + 300)
        #expect(try #require(try await pages.metric("process_resident_memory_bytes")) < memory + 64 * 1_048_576)

        for socket in crowd { socket.close() }
        let isOver = try await eventually {
            try await pages.metric("process_open_fds") ?? .infinity <= before + 5 ? true : nil
        }
        #expect(isOver == true)
        #expect(await agent.stop() == 0)
    }

    /// Here are the other ends, and the usual limit is 1,024.
    private static func allowManyFiles() {
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        limit.rlim_cur = max(limit.rlim_cur, min(limit.rlim_max, 8192))
        setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    }
}

/// The client's end of a connection, which says one thing and reads nothing.
private struct Socket {
    private let descriptor: Int32

    init(port: UInt16, saying text: String) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        let code = withUnsafePointer(to: address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard code == 0 else { throw AcceptanceError("no connection: \(String(cString: strerror(errno)))") }
        _ = send(descriptor, text, text.utf8.count, Int32(MSG_NOSIGNAL))
    }

    func close() { _ = Glibc.close(descriptor) }
}
