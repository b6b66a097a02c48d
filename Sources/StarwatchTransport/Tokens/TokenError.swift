/// Why there is no token.
package enum TokenError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The file is not there, or cannot be read.
    case fileUnreadable(setting: String)
    /// Others than its owner may read the file.
    case filePermissions(setting: String)
    /// The file's content is not what its setting is for.
    case fileInvalid(setting: String, advice: String)
    /// The private key is not the one of the account's DID.
    case keyMismatch
    /// The account's DID is of a method that the provider cannot sign for.
    case unsupportedDID
    /// No token of the pool is valid for this account and purpose.
    case poolEmpty
    /// The command could not be run or failed.
    case commandFailed
    /// The command printed something else than one token.
    case commandOutput

    package var description: String {
        switch self {
        case .fileUnreadable(let setting):
            "The file of \(setting) cannot be read; check that it exists and belongs to the agent's user."
        case .filePermissions(let setting):
            "The file of \(setting) can be read by others; run chmod 600 on it."
        case .fileInvalid(let setting, let advice):
            "The file of \(setting) cannot be used; \(advice)."
        case .keyMismatch:
            "The key of auth.key_file does not belong to the configured DID; set the key of that DID, or its DID."
        case .unsupportedDID:
            "auth.kind did_key signs for did:ethr:0x… only; use token_pool or command for other DIDs."
        case .poolEmpty:
            "No token of auth.tokens_file is valid for this account; mint new ones into the file."
        case .commandFailed:
            "The command of auth.argv failed; run it by hand to see why."
        case .commandOutput:
            "The command of auth.argv must print one token, of the active identity, and nothing else."
        }
    }
}
