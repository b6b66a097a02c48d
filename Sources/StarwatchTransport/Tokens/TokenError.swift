package import StarwatchCore

/// The reason for a missing token.
package enum TokenError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The file is missing or cannot be read.
    case fileUnreadable(setting: String)
    /// The file belongs to neither root nor the agent's user.
    case fileOwner(setting: String)
    /// Users other than the owner can read the file.
    case filePermissions(setting: String)
    /// The same of a file of root, which only root can change, such as one that a container runtime mounts.
    case fileForeignPermissions(setting: String)
    /// The file's content does not fit its setting. `advice` says what is wrong and what to do.
    case fileInvalid(setting: String, advice: String)
    /// The private key does not match the account's DID.
    case keyMismatch
    /// The provider cannot sign for the method of the account's DID.
    case unsupportedDID
    /// No token of the pool is valid for this account and purpose.
    case poolEmpty
    /// The database has no key that can sign for the account.
    case noSigningKey
    /// The database failed while the signing keys were read.
    case signingKeysUnreadable
    /// There are no tokens, and the request needs one.
    case notConfigured
    /// The command failed or could not be started.
    case commandFailed
    /// The command's output is not one token of the active identity.
    case commandOutput

    /// The reason from a closed set.
    package var cause: FailureReason.Cause {
        switch self {
        case .fileUnreadable: .tokenFile
        case .fileOwner, .filePermissions, .fileForeignPermissions: .tokenFilePermissions
        case .fileInvalid: .tokenFileContent
        case .keyMismatch: .keyMismatch
        case .unsupportedDID: .unsupportedDID
        case .poolEmpty: .poolEmpty
        case .notConfigured, .noSigningKey: .noToken
        case .signingKeysUnreadable: .database
        case .commandFailed: .tokenCommand
        case .commandOutput: .tokenCommandOutput
        }
    }

    /// The way to give a file of root to the agent alone.
    package static let adviceForFilesOfRoot =
        "give it mode 0440, and the agent's group or a place in $CREDENTIALS_DIRECTORY"

    package var description: String {
        switch self {
        case .fileUnreadable(let setting):
            "The file of \(setting) cannot be read; check that it exists and that the agent's user owns it."
        case .fileOwner(let setting):
            "Another user owns the file of \(setting); run chown on it to give it to the agent's user."
        case .filePermissions(let setting):
            "Other users can read the file of \(setting); run chmod 600 on it."
        case .fileForeignPermissions(let setting):
            "Other users can read the file of \(setting), which is root's; \(Self.adviceForFilesOfRoot)."
        case .fileInvalid(let setting, let advice):
            "The file of \(setting) cannot be used; \(advice)."
        case .keyMismatch:
            "The key in auth.key_file does not match identity.did; change one of the two."
        case .unsupportedDID:
            "auth.kind did_key supports only did:ethr:0x…; use token_pool or command for other DIDs."
        case .poolEmpty:
            "No token in auth.tokens_file is valid for this account; add new tokens to the file."
        case .noSigningKey:
            "The active identity has no signing key; import one with starwatch keys import."
        case .signingKeysUnreadable:
            "The signing keys cannot be read from the database; check the disk, and run starwatch keys verify."
        case .notConfigured:
            "The server answers this poll only with a token, and auth.kind is none; set auth.kind."
        case .commandFailed:
            "The command in auth.argv failed; run it by hand to see the error."
        case .commandOutput:
            "The command in auth.argv must print exactly one token of the active identity; run it by hand to check."
        }
    }
}

extension APIFailure {
    /// The failure to get a token. A program that gives tokens can throw any error.
    package init(noToken error: any Error) {
        let error = error as? TokenError
        // Also without a token because the database failed.
        self.init(error?.cause ?? .noToken, failureClass: .unauthenticated, error?.description)
    }
}
