import StarwatchTransport

extension RandomID {
    /// The id of one pass of a service: the same in logs, stored rows, exemplars and sink headers.
    static func runID() -> String { "run_" + hex(8) }

    /// The id of a notification, which stays through every retry.
    static func notificationID() -> String { "ntf_" + hex(16) }

    private static func hex(_ count: Int) -> String {
        var text: [UInt8] = []
        text.reserveCapacity(count * 2)
        for byte in bytes(count) {
            for digit in [byte >> 4, byte & 15] { text.append(digit < 10 ? 48 + digit : 87 + digit) }
        }
        return String(decoding: text, as: UTF8.self)
    }
}
