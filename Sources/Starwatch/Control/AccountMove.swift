import StarwatchCore
import StarwatchStore

/// The account to hand out: `{"did": "did:…"}`.
package struct AccountExport: Sendable, Codable, Hashable {
    /// `nil` for the active identity or, if there is none, the account that was handed out last.
    package var did: String?
    /// Whether nothing is changed.
    package var trial: Bool?

    package init(did: String? = nil, trial: Bool? = nil) { (self.did, self.trial) = (did, trial) }

    /// - Throws: ``ControlError`` of kind `invalid` if the text is no DID.
    func account() throws(ControlError) -> DID? { if let did { try DID(named: did) } else { nil } }
}

/// All that is stored of an account.
package struct AccountExportReport: Sendable, Codable, Hashable {
    /// One line of JSON, with personal data and keys. Its content is the agent's own.
    package var bundle: String
    /// The number of encrypted values that did not open and stayed behind, by `table.column`; `nil` if there are none.
    package var lost: [String: Int]?

    /// The lost values as a sentence with advice; `nil` if there are none.
    package var loss: String? { lost?.lossSentence(isHandedOut: true) }
}

/// `{"bundle": "…"}`: what another agent handed out.
package struct AccountImport: Sendable, Codable, Hashable {
    /// The length of the longest bundle, in bytes.
    package static let longestText = AccountBundle.longestText

    package var bundle: String
    /// Whether nothing is changed.
    package var trial: Bool?
    /// Whether an account that this agent handed out with this bundle can come back. No other agent may have taken it in.
    package var undo: Bool?

    package init(bundle: String, trial: Bool? = nil, undo: Bool? = nil) {
        (self.bundle, self.trial, self.undo) = (bundle, trial, undo)
    }
}

/// Whether the account is served here, or the reasons why not.
package struct AccountImportReport: Sendable, Codable, Hashable {
    /// `imported`, `possible` after a trial, `known` if the account came with this bundle before, or `refused`.
    package var result: String
    /// The account's pseudonym in logs, and in the notifications of an agent with many accounts.
    package var pseudonym: String
    /// A sentence for each reason why it is refused. Nothing was changed then.
    package var problems: [String]
    /// A sentence for each thing that the account does without here.
    package var warnings: [String]

    /// Whether the account is served here, or could be.
    package var isGood: Bool { result != "refused" }
}
