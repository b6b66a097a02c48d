import Foundation

/// Finds the files that logrotate leaves next to a file: `out.jsonl.1`, `out.jsonl-20260101`.
enum RotatedFiles {
    /// Returns the paths of the most recently written files, newest first. Compressed files cannot be read; logrotate
    /// can leave the last one uncompressed (`delaycompress`).
    ///
    /// - Parameter others: Unrelated files, which are excluded even if their names match.
    static func newest(_ count: Int, of path: String, except others: Set<String> = []) -> [String] {
        let (folder, name) = (directory(of: path), path.split(separator: "/").last.map(String.init) ?? path)
        let all = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        let rotated = all.filter { other in
            other.hasPrefix(name) && isMark(other.dropFirst(name.count))
                && !others.contains(plain(folder + "/" + other))
        }
        let dated = rotated.compactMap { other -> (path: String, date: Date)? in
            let path = folder + "/" + other
            guard let attributes = try? FileManager.default.attributesOfItem(atPath: path),
                attributes[.type] as? FileAttributeType == .typeRegular,
                let date = attributes[.modificationDate] as? Date
            else { return nil }
            return (path, date)
        }
        return dated.sorted { $0.date > $1.date }.prefix(count).map(\.path)
    }

    /// Returns `true` for `.1`, or for a date or time after `-`: `-20260101`, `-2026-01-01`, `-20260101-1767225600`.
    private static func isMark(_ suffix: Substring) -> Bool {
        guard let first = suffix.first, let second = suffix.dropFirst().first, second.isASCII, second.isNumber else {
            return false
        }
        let rest = suffix.dropFirst()
        return switch first {
        case ".": rest.allSatisfy { $0.isASCII && $0.isNumber }
        case "-": rest.allSatisfy { $0.isASCII && $0.isNumber || $0 == "-" }
        default: false
        }
    }

    /// Returns the path in standard form, so that two spellings compare equal.
    static func plain(_ path: String) -> String { URL(filePath: path).standardizedFileURL.path }

    static func directory(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }
}
