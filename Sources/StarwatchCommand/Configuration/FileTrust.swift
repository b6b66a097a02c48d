import Foundation
import Starwatch
import StarwatchCore

/// The files and folders that decide about a file's content: the file itself, and every folder above it and above the
/// target of a link. Whoever can write to one of them can replace the file.
struct FileTrust: Sendable, Hashable {
    /// The users besides root whose files are accepted.
    var users: [UInt32]

    struct Problem: Sendable, Hashable {
        var path: String
        var isFolder: Bool
        var kind: FileAccess.Problem
    }

    /// Returns what another user can change; `nil` if nobody else can. Of a file that does not exist, the folders count.
    func problem(of path: String) -> Problem? {
        let target = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
        if let file = FileAccess(path: target), let kind = found({ file.fileProblem(for: $0) }) {
            return Problem(path: target, isFolder: false, kind: kind)
        }
        for place in [path, target] {
            for folder in Self.folders(above: place) {
                guard let access = FileAccess(path: folder),
                    let kind = found({ access.folderProblem(for: $0) })
                else { continue }
                return Problem(path: folder, isFolder: true, kind: kind)
            }
        }
        return nil
    }

    /// The problem for every user; the last one decides what is said.
    private func found(_ problem: (UInt32) -> FileAccess.Problem?) -> FileAccess.Problem? {
        var kind: FileAccess.Problem?
        for user in users {
            guard let found = problem(user) else { return nil }
            kind = found
        }
        return kind
    }

    /// The folders of an absolute path, the nearest first.
    static func folders(above path: String) -> [String] {
        var folders: [String] = []
        var url = URL(fileURLWithPath: path).standardizedFileURL
        while url.path != "/" {
            url.deleteLastPathComponent()
            folders.append(url.path)
        }
        return folders
    }
}
