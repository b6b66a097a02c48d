import Foundation

/// What logrotate leaves of a file: `out.jsonl.1`, `out.jsonl-20260101`, in the same folder.
enum RotatedFiles {
    /// The paths of those that were written to last, the newest first. Packed ones cannot be read; rotation can leave
    /// the last one as it is (`delaycompress`).
    ///
    /// - Parameter others: Files that are something else, whatever their names look like.
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

    /// `.1`, or a date or time after `-`: `-20260101`, `-2026-01-01`, `-20260101-1767225600`.
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

    /// The same path, whichever way it is written.
    static func plain(_ path: String) -> String { URL(filePath: path).standardizedFileURL.path }

    static func directory(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }
}
