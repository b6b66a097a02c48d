import Foundation
import Testing

/// The pages of the repository.
enum Pages {
    static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    static func text(_ page: String) throws -> String {
        try String(contentsOf: root.appending(path: page), encoding: .utf8)
    }

    /// The README and the pages of `docs/`.
    static func documentation() throws -> [String] { try ["README.md"] + pages(in: "docs") }

    /// The Markdown files of a folder.
    static func pages(in folder: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: root.appending(path: folder).path)
            .filter { $0.hasSuffix(".md") }.sorted().map { folder + "/" + $0 }
    }

    /// The text between the markers `<!-- NAME -->` and the next `<!-- /… -->`.
    static func generated(_ name: String, in page: String) throws -> String {
        let parts = try text(page).components(separatedBy: "<!-- \(name) -->\n")
        try #require(parts.count == 2, "\(page) needs the marker <!-- \(name) --> once")
        return parts[1].components(separatedBy: "<!-- /")[0]
    }
}
