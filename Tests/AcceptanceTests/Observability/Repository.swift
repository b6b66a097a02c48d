import Foundation
import Testing

/// Files of the repository that the observability tests compare.
enum Repository {
    static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()

    static func text(_ path: String) throws -> String {
        try String(contentsOf: root.appending(path: path), encoding: .utf8)
    }

    /// The files of a folder with this ending, in order.
    static func files(in folder: String, ending: String) throws -> [URL] {
        try FileManager.default.contentsOfDirectory(at: root.appending(path: folder), includingPropertiesForKeys: nil)
            .filter { $0.pathExtension == ending }.sorted { $0.path < $1.path }
    }
}

/// A query, and where it stands.
struct PlacedQuery: Sendable, CustomTestStringConvertible {
    let place: String
    let expression: String
    /// The labels that a legend or a text shows.
    var legend: [String] = []

    var testDescription: String { place }

    /// The labels in `{{name}}`.
    static func labels(in legend: String?) -> [String] {
        (legend ?? "").matches(of: /\{\{ *(\w+) *\}\}/).map { String($0.1) }
    }
}
