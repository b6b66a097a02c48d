import Foundation

/// The answers that the requirements give verbatim (R-TST-01…06), and two with all fields of the schema added.
enum GoldenFixture: String, CaseIterable {
    case empty, small, paginated, malformed
    case rateLimited = "rate_limited"
    case mixedOrder = "mixed_order"
    case smallFull = "small_full"
    case mixedOrderFull = "mixed_order_full"

    /// The ids of the first and the last of the hundred items that ``paginated`` stands for.
    static let firstID = "1704067200_abc123_def45678"
    static let lastID = "1704153600_xyz789_0badf00d"

    private static let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "Fixtures")

    /// The answer. ``paginated`` has a comment in the place of its items; they are made here.
    func bytes() throws -> [UInt8] {
        let text = try String(contentsOf: Self.folder.appending(path: rawValue + ".json"), encoding: .utf8)
        guard self == .paginated else { return Array(text.utf8) }
        var lines = text.split(separator: "\n").map(String.init)
        let comment = lines.firstIndex { $0.hasPrefix("//") }
        if let comment { lines[comment] = Self.items }
        return Array(lines.joined(separator: "\n").utf8)
    }

    private static var items: String {
        let middle = (1..<99).map { "\(1_704_067_200 + $0 * 864)_abc123_def45678" }
        return ([firstID] + middle + [lastID]).map { id in
            #"{"planSummary":{"jwtId":"\#(id)","handleId":"test_project","name":"Test Project"}}"#
        }.joined(separator: ",\n")
    }
}
