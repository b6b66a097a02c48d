import Foundation
import Glibc
package import StarwatchCore
import StarwatchStore
package import StarwatchTransport

/// The files with secrets that the configuration names.
struct SecretFiles: Sendable {
    /// The value of `$CREDENTIALS_DIRECTORY`.
    let credentialsDirectory: String?

    /// The files of a service that systemd started, or of another process.
    static var ofProcess: SecretFiles {
        SecretFiles(credentialsDirectory: ProcessInfo.processInfo.environment["CREDENTIALS_DIRECTORY"])
    }

    /// Returns a secret's file, after a check that it is usable.
    ///
    /// - Parameters:
    ///   - setting: The setting that names the file, for errors.
    ///   - content: The form of the secret.
    ///   - check: Checks the content.
    /// - Throws: ``AgentError`` of kind `configuration`.
    func file(
        _ path: String?,
        _ setting: String,
        holding content: SecretContent,
        check: ([UInt8]) throws(AgentError) -> Void = { _ in }
    ) throws(AgentError) -> SecretFile {
        guard let path else { throw AgentError(.configuration, "\(setting) is missing.") }
        let file = SecretFile(
            path: path,
            setting: setting,
            holding: content,
            credentialsDirectory: credentialsDirectory
        )
        try check(file.bytes())
        return file
    }

    /// Reads the login of a proxy; `nil` without a file.
    ///
    /// - Throws: ``AgentError`` of kind `configuration`.
    func proxyLogin(_ path: String?, of section: String) throws(AgentError) -> ProxyLogin? {
        guard path != nil else { return nil }
        return ProxyLogin(try file(path, "\(section).proxy_login_file", holding: .login).bytes())
    }

    /// Reads the headers of a list's requests; none without a file.
    ///
    /// - Throws: ``AgentError`` of kind `configuration`.
    func headers(_ path: String?, of section: String) throws(AgentError) -> [(name: String, value: String)] {
        guard path != nil else { return [] }
        let content = try file(path, "\(section).headers_file", holding: .headers).bytes()
        // The file's content has been checked.
        return (try? HeadersFile.parse(content)) ?? []
    }
}

extension SecretContent {
    /// Returns why a file is not usable as a secret of this form, in a sentence with the path for a command; `nil` if it is.
    ///
    /// - Parameters:
    ///   - bytes: The length of the shortest accepted secret.
    ///   - user: The user who runs the command.
    package func problem(
        of path: String,
        atLeast bytes: Int,
        credentialsDirectory: String?,
        user: UInt32
    ) -> String? {
        var file = SecretFile(
            path: path,
            setting: "",
            holding: self,
            credentialsDirectory: credentialsDirectory,
            reader: SecretReader(user: user)
        )
        do throws(TokenError) {
            guard try file.read().count < bytes else { return nil }
            return "\(path) has less than \(bytes) bytes, which is easy to guess; write a longer secret."
        } catch {
            return switch error {
            case .fileOwner: "\(path) belongs to another user; run chown on it to give it to the agent's user."
            case .filePermissions: "\(path) can be read or changed by other users; run chmod 600 on it."
            case .fileForeignPermissions:
                "\(path) belongs to root and can be read by other users; \(TokenError.adviceForFilesOfRoot)."
            case .fileInvalid(_, let advice): "\(path) cannot be used; \(advice)."
            default: "\(path) cannot be read by this user; correct its owner or mode."
            }
        }
    }
}

extension SecretFile {
    /// The content of the file.
    ///
    /// - Throws: ``AgentError`` of kind `configuration`.
    package func bytes() throws(AgentError) -> [UInt8] {
        var file = self
        do { return try file.read() } catch { throw AgentError(.configuration, error.description) }
    }
}

extension FileAccess {
    /// Reads the owner and the mode of a file, or of the target of a link; `nil` if there is none.
    package init?(path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        self.init(owner: status.st_uid, mode: status.st_mode)
    }

    /// Reads the owner and the mode of an open file; `nil` if it is not a regular file.
    init?(regularFile descriptor: Int32) {
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        self.init(owner: status.st_uid, mode: status.st_mode)
    }

    /// Reads the owner and the mode of the folder that contains `path`.
    package init?(folderOf path: String) {
        guard let slash = path.lastIndex(of: "/") else {
            self.init(path: ".")
            return
        }
        self.init(path: String(path[...slash]) + ".")
    }
}

/// The system's text for an `errno`, for modules that cannot import the store.
package enum ErrnoText { package static func of(_ code: Int32) -> String { SystemText.of(code) } }
