import Foundation
import Glibc
import Starwatch
import StarwatchCore

/// The places and permissions of the files that a configuration names.
struct FileResolver: Sendable {
    /// The configuration file's directory, where relative paths start.
    var directory: String
    /// The loader of that file.
    var loader = ConfigurationLoader()

    /// systemd's `$CREDENTIALS_DIRECTORY`, which comes first for file names without a directory.
    private var credentialsDirectory: String? {
        loader.environment["CREDENTIALS_DIRECTORY"].flatMap { $0.isEmpty ? nil : $0 }
    }

    /// Returns the absolute path.
    func path(_ text: String) -> String {
        text.hasPrefix("/") ? text : URL(fileURLWithPath: text, relativeTo: base).standardizedFileURL.path
    }

    /// Returns the absolute path, in the credentials directory if the file exists there.
    func secretPath(_ text: String) -> String { credential(text) ?? path(text) }

    /// Returns why `text` is not a readable file, or `nil`.
    func fileProblem(_ text: String, canBeEmpty: Bool = false) -> String? {
        readProblem(path(text), canBeEmpty: canBeEmpty)
    }

    /// Returns why `text` is not usable as a secret, or `nil`.
    ///
    /// The file must be readable, not empty, closed as ``SecretAccess`` demands, and belong to root or the running user. For
    /// root any owner is good, because root checks the files of the service's user.
    ///
    /// - Parameters:
    ///   - content: The form of the secret.
    ///   - bytes: The length of the shortest accepted secret.
    ///   - canBeSealed: Whether a ``SealedCredential`` can stand for the file, which is that of the master key.
    ///   - maker: The command that makes the file; `nil` for none.
    func secretProblem(
        _ text: String,
        holding content: SecretContent,
        atLeast bytes: Int = 1,
        canBeSealed: Bool = false,
        maker: String? = nil
    ) -> String? {
        guard loader.checksSecrets else { return nil }
        let file = secretPath(text)
        if canBeSealed, file == loader.knownKeyFile { return nil }
        if canBeSealed, SealedCredential(of: file).replacesFile { return sealedProblem(SealedCredential(of: file)) }
        guard FileManager.default.fileExists(atPath: file) else {
            return maker != nil && maker == loader.maker ? nil : missing(text, file, maker)
        }
        if let problem = readProblem(file, canBeEmpty: false) { return problem }
        return content.problem(
            of: file,
            atLeast: bytes,
            credentialsDirectory: credentialsDirectory,
            user: loader.user
        )
    }

    /// Returns why a credential cannot be used. systemd gives it to the service; root opens it itself.
    private func sealedProblem(_ credential: SealedCredential) -> String? {
        if credentialsDirectory != nil {
            let advice = "add LoadCredentialEncrypted= to the unit, or run 'systemctl daemon-reload'."
            return "\(credential.path) is not loaded; \(advice)"
        }
        return loader.user == 0 ? nil : "\(credential.path) \(SealedCredential.advice)"
    }

    /// The value is shown only if it is plainly a path. Otherwise it can be the secret itself, put here by mistake.
    private func missing(_ text: String, _ file: String, _ maker: String?) -> String {
        if Self.isPlainlyAPath(text) {
            let advice = maker.map { "make it with \($0)," } ?? "create it"
            return "there is no file \(file); \(advice) or correct the path."
        }
        let places = [directory, credentialsDirectory].compactMap { $0 }.joined(separator: " or ")
        return "there is no such file in \(places); the value must be the name of a file that contains the secret."
    }

    /// The command that makes the file of the token in the feed's address.
    static let feedTokenMaker = "starwatch feed url"

    private static let extensions = [
        "secret", "key", "pem", "token", "tokens", "headers", "txt", "json", "jwk", "conf",
    ]

    /// Whether a text is plainly the path of a file, and not a secret.
    static func isPlainlyAPath(_ text: String) -> Bool {
        guard text.wholeMatch(of: /[A-Za-z0-9._\/\-]{1,200}/) != nil else { return false }
        let parts = text.split(separator: "/")
        // Base64 and tokens have slashes and dots too.
        if parts.contains(where: { $0.count > 40 || looksRandom($0) }) { return false }
        let name = parts.last ?? ""
        let hasExtension = extensions.contains { name.hasSuffix("." + $0) }
        return hasExtension || text.hasPrefix("/") && text.count { $0 == "/" } >= 2
    }

    /// Whether a word of some length has letters of both cases and digits.
    private static func looksRandom(_ word: Substring) -> Bool {
        word.count > 12 && word.contains(where: \.isUppercase) && word.contains(where: \.isLowercase)
            && word.contains(where: \.isNumber)
    }

    private var base: URL { URL(fileURLWithPath: directory, isDirectory: true) }

    private func credential(_ text: String) -> String? {
        guard let credentialsDirectory, !text.contains("/"), text != "..", text != "." else { return nil }
        let file = credentialsDirectory + "/" + text
        return FileManager.default.fileExists(atPath: file) ? file : nil
    }

    /// The advice to a user without the right to read.
    static var readAdvice: String {
        geteuid() == 0 ? "correct its owner or mode" : "use sudo, or correct its owner or mode"
    }

    private func readProblem(_ file: String, canBeEmpty: Bool) -> String? {
        var isDirectory: ObjCBool = false
        guard FileManager.default.fileExists(atPath: file, isDirectory: &isDirectory) else {
            return "there is no file \(file); create it or correct the path."
        }
        if isDirectory.boolValue { return "\(file) is a directory; name a file instead." }
        guard FileManager.default.isReadableFile(atPath: file) else {
            return "\(file) cannot be read by this user; \(Self.readAdvice)."
        }
        if canBeEmpty { return nil }
        let size = (try? FileManager.default.attributesOfItem(atPath: file)[.size] as? NSNumber)?.intValue
        return size == 0 ? "\(file) is empty; write the content or correct the path." : nil
    }
}
