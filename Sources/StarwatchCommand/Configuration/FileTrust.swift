import Foundation
import Glibc
import Starwatch
import StarwatchCore

/// The files and folders that decide about a file's content: the file, and every link and folder on the way to it.
/// Whoever can write to one of them can replace the file.
struct FileTrust: Sendable, Hashable {
    /// The users besides root whose files are accepted.
    var users: [UInt32]

    /// A thing on the way that another user can change.
    struct Gap: Sendable, Hashable {
        enum Part: Sendable, Hashable { case file, folder, link }

        var path: String
        var part: Part
        var kind: FileAccess.Fault

        /// The rest of a sentence about the file, with what to do.
        ///
        /// - Parameter takeOver: The advice for a file of another user.
        func sentence(takeOver: String) -> String {
            switch (part, kind) {
            case (.file, .owner): "belongs to another user; \(takeOver)."
            case (.file, _): "can be changed by other users; run 'chmod go-w \(path)'."
            case (.folder, .owner):
                "is in a folder of another user; move it to another folder, or run 'chown' on \(path)."
            case (.folder, _): "can be replaced by other users; run 'chmod go-w \(path)'."
            case (.link, _): "is behind a link of another user; run 'chown -h' on \(path), or name the file itself."
            }
        }
    }

    /// Returns what another user can change; `nil` if nobody else can. For a file that does not exist, the folders count.
    func problem(of path: String) -> Gap? {
        let way = FileWay(to: path)
        if let file = FileAccess(path: way.target), let kind = file.fileProblem(for: trusted(file.owner)) {
            return Gap(path: way.target, part: .file, kind: kind)
        }
        return problem(on: way)
    }

    /// Returns what another user can change on the way to every new file of a folder; `nil` if nobody else can.
    func problem(ofFolder path: String) -> Gap? {
        var way = FileWay(to: path)
        way.folders.append(way.target)
        return problem(on: way)
    }

    private func problem(on way: FileWay) -> Gap? {
        for folder in way.folders.reversed() {
            guard let access = FileAccess(path: folder), let kind = access.folderProblem(for: trusted(access.owner))
            else { continue }
            return Gap(path: folder, part: .folder, kind: kind)
        }
        // In a sticky folder, the owner of a link can replace it.
        let foreign = way.links.first { FileAccess(linkAt: $0)?.belongs(to: users) == false }
        return foreign.map { Gap(path: $0, part: .link, kind: .owner) }
    }

    /// The user for whom a file of `owner` is judged: one of ``users``, else root.
    private func trusted(_ owner: UInt32) -> UInt32 { users.contains(owner) ? owner : 0 }
}

/// The way to a file: one name after the other, as the system follows it.
private struct FileWay {
    /// Every folder in which a name is looked up, from the root on. None contains a link.
    fileprivate(set) var folders: [String] = []
    /// The links in folders to which others can write.
    private(set) var links: [String] = []
    /// The file without links. It need not exist.
    private(set) var target = "/"

    /// The system follows as many.
    private static let mostLinks = 40

    init(to path: String) {
        let start = path.hasPrefix("/") ? path : FileManager.default.currentDirectoryPath + "/" + path
        var names = Array(start.split(separator: "/").map(String.init).reversed())
        var followed = 0
        while let name = names.popLast() {
            if name == "." { continue }
            let folder = target
            if !folders.contains(folder) { folders.append(folder) }
            guard name != ".." else {
                target = URL(fileURLWithPath: folder).deletingLastPathComponent().path
                continue
            }
            let next = folder == "/" ? "/" + name : folder + "/" + name
            guard followed < Self.mostLinks,
                let link = try? FileManager.default.destinationOfSymbolicLink(atPath: next)
            else {
                target = next
                continue
            }
            followed += 1
            if FileAccess(path: folder).map(\.othersCanAdd) ?? false { links.append(next) }
            names += link.split(separator: "/").map(String.init).reversed()
            if link.hasPrefix("/") { target = "/" }
        }
    }
}

extension FileAccess {
    /// Reads the owner and the mode of a link itself; `nil` if there is none.
    fileprivate init?(linkAt path: String) {
        var status = stat()
        guard lstat(path, &status) == 0 else { return nil }
        self.init(owner: status.st_uid, mode: status.st_mode)
    }

    fileprivate func belongs(to users: [UInt32]) -> Bool { owner == 0 || users.contains(owner) }

    fileprivate var othersCanAdd: Bool { mode & 0o022 != 0 }
}
