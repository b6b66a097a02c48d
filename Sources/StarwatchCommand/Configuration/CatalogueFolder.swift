import Foundation
import StarwatchCore

/// A folder of message catalogues, one JSON file per locale: `pl.json`, `pt-BR.json`.
struct CatalogueFolder {
    struct Problem: Error, Sendable {
        var message: String
    }

    /// The limit of a file. A catalogue is a few kilobytes.
    private static let largestBytes = 1 << 20

    var path: String
    var catalogues: [MessageCatalogue]
}

extension CatalogueFolder {
    init(reading path: String) throws(Problem) {
        guard let names = try? FileManager.default.contentsOfDirectory(atPath: path) else {
            throw Problem(message: "there is no folder \(path) that this user can read; create it or correct the path.")
        }
        let files = names.filter { $0.hasSuffix(".json") && !$0.hasPrefix(".") }.sorted()
        guard !files.isEmpty else {
            throw Problem(message: "\(path) contains no catalogue; name files by their locale, such as pl.json.")
        }
        self.init(path: path, catalogues: [])
        for file in files {
            guard let locale = LocaleTag(file.dropLast(5)) else {
                throw Problem(message: "\(file) must be named by a locale, such as pl.json or pt-BR.json.")
            }
            if catalogues.contains(where: { $0.locale == locale }) {
                throw Problem(message: "\(file) has the same locale as another file; remove one.")
            }
            guard let data = FileManager.default.contents(atPath: path + "/" + file), data.count <= Self.largestBytes
            else { throw Problem(message: "\(file) cannot be read by this user, or is larger than 1MiB.") }
            do throws(MessageCatalogue.Failure) {
                catalogues.append(try MessageCatalogue(locale, json: data))
            } catch {
                throw Problem(message: "\(file): \(error).")
            }
        }
    }
}
