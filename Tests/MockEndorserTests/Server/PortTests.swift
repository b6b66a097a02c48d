import Glibc
import MockEndorser
import Testing

@Suite struct PortTests {
    /// The `errno` of binding the port; 0 when it succeeds.
    private func refusal(ofPort port: Int) -> Int32 {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(UInt16(port).bigEndian)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        return result == 0 ? 0 : errno
    }

    @Test func stoppedServerKeepsItsPort() async throws {
        let server = MockServer()
        try await server.start()
        let port = server.port
        for _ in 0..<3 {
            try await server.stop()
            #expect(refusal(ofPort: port) == EADDRINUSE)
            try await server.start()
            #expect(server.port == port)
        }
        try await server.stop()
    }
}
