import Foundation
import StarwatchCore

/// A folder of message catalogues, a JSON file a locale: `pl.json`, `pt-BR.json`.
enum CatalogueFolder {
    struct Problem: Error, Sendable {
        var message: String
    }

    /// Far more than a language needs, and far less than what would be noticed.
    private static let largestBytes = 1 << 20

    static func read(_ path: String) throws(Problem) -> [MessageCatalogue] {
        guard let names = try? FileManager.default.contentsOfDirectory(atPath: path) else {
            throw Problem(message: "there is no folder \(path) that this user can read; create it or correct the path.")
        }
        let files = names.filter { $0.hasSuffix(".json") && !$0.hasPrefix(".") }.sorted()
        guard !files.isEmpty else {
            throw Problem(message: "\(path) holds no catalogue; name files by their locale, such as pl.json.")
        }
        var found: [MessageCatalogue] = []
        for file in files {
            guard let locale = LocaleTag(file.dropLast(5)) else {
                throw Problem(message: "\(file) must be named by a locale, such as pl.json or pt-BR.json.")
            }
            if found.contains(where: { $0.locale == locale }) {
                throw Problem(message: "\(file) is of the same locale as another file; remove one.")
            }
            guard let data = FileManager.default.contents(atPath: path + "/" + file), data.count <= largestBytes else {
                throw Problem(message: "\(file) cannot be read by this user, or is larger than 1MiB.")
            }
            do throws(MessageCatalogue.Failure) {
                found.append(try MessageCatalogue(locale, json: data))
            } catch {
                throw Problem(message: "\(file): \(error).")
            }
        }
        return found
    }
}
