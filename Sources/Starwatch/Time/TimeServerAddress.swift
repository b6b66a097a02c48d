import StarwatchCore
import StarwatchPolling
import StarwatchTransport

/// Address of a time server: `host`, `host:port` or `[v6]:port`. The default port is 123.
package struct TimeServerAddress: Sendable, Hashable {
    /// Host name or address, without brackets.
    package let host: String
    package let port: Int

    /// - Returns: `nil` for anything else.
    package init?(_ text: String) {
        let hasPort = text.last != "]" && text.contains(":")
        guard let address = try? ListenAddress(parsing: hasPort ? text : text + ":123"), address.port > 0,
            !text.hasPrefix(":"), !text.isEmpty, address.host.utf8.allSatisfy(Self.isAllowed)
        else { return nil }
        host = address.host
        port = address.port
    }

    private static func isAllowed(_ byte: UInt8) -> Bool {
        (48...57).contains(byte) || (65...90).contains(byte) || (97...122).contains(byte) || ".-_:%".utf8.contains(byte)
    }
}

extension NTPClient {
    /// The client of the configured time server; `nil` if the clock is measured otherwise.
    ///
    /// - Throws: ``AgentError`` of kind `configuration`.
    init?(_ clock: ClockOptions, time: any TimeSource) throws(AgentError) {
        guard clock.source == .ntp else { return nil }
        guard let address = clock.ntpServer.flatMap(TimeServerAddress.init) else {
            throw AgentError(.configuration, "clock.source ntp needs clock.ntp_server, HOST or HOST:PORT.")
        }
        self.init(
            host: address.host,
            port: address.port,
            clock: { StarwatchTransport.ClockReading(wall: time.now, monotonic: time.monotonic) }
        )
    }
}
