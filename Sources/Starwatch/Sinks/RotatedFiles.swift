import Foundation

/// What rotation leaves of a file: `out.jsonl.1`, `out.jsonl-20260101`, in the same folder.
enum RotatedFiles {
    /// Packed ones cannot be read; rotation can leave the last one as it is (`delaycompress`).
    private static let packed = [".gz", ".bz2", ".xz", ".zst", ".Z", ".lz4"]

    /// The paths of those that were written to last, the newest first.
    static func newest(_ count: Int, of path: String) -> [String] {
        let (folder, name) = (directory(of: path), path.split(separator: "/").last.map(String.init) ?? path)
        let all = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        let rotated = all.filter { other in
            (other.hasPrefix(name + ".") || other.hasPrefix(name + "-")) && !packed.contains { other.hasSuffix($0) }
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

    static func directory(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }
}
