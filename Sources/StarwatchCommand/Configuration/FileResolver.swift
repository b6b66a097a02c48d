import Foundation

/// Where the files that a configuration names are, and whether they may be used.
struct FileResolver: Sendable {
    /// Of the configuration file; relative paths start here.
    var directory: String
    /// systemd's `$CREDENTIALS_DIRECTORY`; bare names that exist there are taken from there.
    var credentialsDirectory: String?

    /// An absolute path.
    func path(_ text: String) -> String {
        text.hasPrefix("/") ? text : URL(fileURLWithPath: text, relativeTo: base).standardizedFileURL.path
    }

    /// As ``path(_:)``, and a bare name in the credentials directory when it exists there.
    func secretPath(_ text: String) -> String {
        credential(text) ?? path(text)
    }

    /// What keeps `text` from being read as a file, or `nil`.
    func fileProblem(_ text: String) -> String? {
        readProblem(path(text))
    }

    /// What keeps `text` from being used as a secret, or `nil`: it must be there, readable, hold something, and be
    /// closed to group and others. The group of systemd's credentials does not count: it shows their access list.
    func secretProblem(_ text: String) -> String? {
        let file = secretPath(text)
        // The path is not repeated: somebody may have put the secret itself in its place.
        guard FileManager.default.fileExists(atPath: file) else {
            return "there is no such file; the value must be the path of a file that holds the secret."
        }
        if let problem = readProblem(file) { return problem }
        let isCredential = credentialsDirectory.map { file.hasPrefix($0 + "/") } ?? false
        guard let mode = permissions(file), mode & (isCredential ? 0o007 : 0o077) != 0 else { return nil }
        return "\(file) can be read or changed by others; run chmod 600 on it."
    }

    private var base: URL { URL(fileURLWithPath: directory, isDirectory: true) }

    private func credential(_ text: String) -> String? {
        guard let credentialsDirectory, !text.contains("/"), text != "..", text != "." else { return nil }
        let file = credentialsDirectory + "/" + text
        return FileManager.default.fileExists(atPath: file) ? file : nil
    }

    private func permissions(_ file: String) -> Int? {
        // The file a link names counts, not the link.
        let target = URL(fileURLWithPath: file).resolvingSymlinksInPath().path
        return (try? FileManager.default.attributesOfItem(atPath: target)[.posixPermissions] as? NSNumber)?.intValue
    }

    private func readProblem(_ file: String) -> String? {
        var isDirectory: ObjCBool = false
        guard FileManager.default.fileExists(atPath: file, isDirectory: &isDirectory) else {
            return "there is no file \(file); create it or correct the path."
        }
        if isDirectory.boolValue { return "\(file) is a directory; name a file." }
        guard FileManager.default.isReadableFile(atPath: file) else {
            return "\(file) cannot be read by this user; correct its owner."
        }
        let size = (try? FileManager.default.attributesOfItem(atPath: file)[.size] as? NSNumber)?.intValue
        return size == 0 ? "\(file) is empty." : nil
    }
}
