import Foundation

/// Code that is given bytes from outside, and what must hold of it whatever they are.
struct FuzzTarget: Sendable, CustomStringConvertible {
    /// Also the name of the folder of its corpus.
    let name: String
    /// Words that its inputs are made of, which chance alone would not find.
    var words: [String] = []
    /// Number of mutations in the short run.
    var tries: Int
    /// Returns what does not hold. That nothing traps goes without saying.
    let check: @Sendable ([UInt8]) -> String?

    var description: String { name }

    static let all: [FuzzTarget] = [
        .redactor, .page, .claim, .answer, .httpDate, .cron, .configuration, .webConfiguration, .exposition,
        .negotiation,
        .target, .deepLink, .message, .content, .token, .ntp, .sealedValue, .masterKey, .timeZone,
    ]

    static let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()

    /// Committed inputs, sorted by name.
    func corpus() throws -> [[UInt8]] {
        let folder = Self.folder.appending(path: "Corpus/\(name)")
        return try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted().map {
            try Array(Data(contentsOf: folder.appending(path: $0)))
        }
    }
}

extension [UInt8] {
    /// The bytes as text; what is no UTF-8 is replaced.
    var text: String { String(decoding: self, as: UTF8.self) }
}
