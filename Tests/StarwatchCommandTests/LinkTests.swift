import Foundation
import Testing

/// Every relative link of the pages leads to a file, and its anchor to a heading.
@Suite struct LinkTests {
    private static let pages = ["ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md", "Benchmarks/README.md"]

    @Test func everyRelativeLinkResolves() throws {
        let folders = ["alerts", "alerts/runbooks", "dashboards"]
        let examples = ["forge-releases", "incidents", "orders"].map { "Examples/Lists/\($0)/README.md" }
        let pages = try Pages.documentation() + Self.pages + examples + folders.flatMap(Pages.pages)
        var count = 0
        for page in pages {
            for link in Self.links(in: try Pages.text(page)) {
                count += 1
                if let problem = try Self.problem(of: link, on: page) { Issue.record("\(page): \(problem)") }
            }
        }
        #expect(count > 60)
    }

    @Test(arguments: [
        ("docs/faq.md#no-such-heading", "docs/faq.md has no heading for #no-such-heading"),
        ("docs/no-such-page.md", "there is no docs/no-such-page.md"),
    ])
    func aBrokenLinkIsFound(_ link: String, _ problem: String) throws {
        #expect(try Self.problem(of: link, on: "README.md") == problem)
    }

    /// The targets of inline links and pictures outside code, without those on the web.
    private static func links(in text: String) -> [String] {
        text.replacing(/```[\s\S]*?```/, with: "").replacing(/`[^`\n]*`/, with: "`")
            .matches(of: /\]\(([^)\s]+)\)/).map { String($0.1) }
            .filter { !$0.contains("://") && !$0.hasPrefix("mailto:") }
    }

    /// Returns what is wrong with a link, or `nil`.
    private static func problem(of link: String, on page: String) throws -> String? {
        let parts = link.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        let folder = Pages.root.appending(path: page).deletingLastPathComponent()
        let file = parts[0].isEmpty ? Pages.root.appending(path: page) : folder.appending(path: parts[0])
        let target = file.standardizedFileURL
        let name = target.path.replacing(Pages.root.standardizedFileURL.path + "/", with: "")
        guard FileManager.default.fileExists(atPath: target.path) else { return "there is no \(name)" }
        guard parts.count == 2 else { return nil }
        return try anchors(of: name).contains(parts[1]) ? nil : "\(name) has no heading for #\(parts[1])"
    }

    /// The anchors of headings, as GitHub makes them.
    private static func anchors(of page: String) throws -> Set<String> {
        let text = try Pages.text(page).replacing(/```[\s\S]*?```/, with: "")
        return Set(
            text.matches(of: /(?:^|\n)#{1,6} ([^\n]+)/).map { heading in
                let words = heading.1.lowercased().filter { $0.isLetter || $0.isNumber || " -_".contains($0) }
                return words.replacing(" ", with: "-")
            }
        )
    }
}
