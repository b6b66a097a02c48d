internal import FoundationEssentials
package import StarwatchCore

/// `auth.kind: token_pool`: hands out tokens that were minted elsewhere.
///
/// The file has one token per line, or is a JSON array of strings. Polls use the valid token that expires first until
/// it expires or the server rejects it, so that few tokens expire unused. Acknowledgements use each token once per run of
/// the agent. After a restart the server can reject a used one; the next attempt uses another.
package actor TokenPoolProvider: TokenProvider {
    private static let setting = "auth.tokens_file"

    private struct Entry {
        var token: AccessToken
        var issuer: String?
        var isRefused = false
        var isSpent = false

        /// A key to sort by expiry. A token without an expiry is used last.
        var order: Int64 { token.expiresAt?.milliseconds ?? .max }
    }

    private var file: SecretFile
    private var entries: [Entry] = []
    private var lastAccount: DID?
    private var lastTime: Timestamp?

    package init(file: SecretFile) { self.file = file }

    package func token(
        for account: DID,
        dialect: Dialect,
        purpose: TokenPurpose,
        serverTime: Timestamp
    ) async throws(TokenError) -> AccessToken? {
        try reload()
        lastAccount = account
        lastTime = serverTime
        let usable = entries.indices.filter { index in
            isUsable(entries[index], account: account, at: serverTime)
                && !(purpose == .acknowledge && entries[index].isSpent)
        }
        guard let index = usable.min(by: { entries[$0].order < entries[$1].order }) else { throw .poolEmpty }
        if purpose == .acknowledge { entries[index].isSpent = true }
        return entries[index].token
    }

    package func refuse(_ token: AccessToken, for purpose: TokenPurpose) async {
        // An acknowledgement's token is already spent. The server can reject it as a repetition and still accept it for
        // polls.
        guard purpose == .poll else { return }
        for index in entries.indices where entries[index].token.rawValue == token.rawValue {
            entries[index].isRefused = true
        }
    }

    package nonisolated var areMinted: Bool { false }

    package func validate(account: DID) async throws(TokenError) { try reload() }

    /// Expiry of the token that polls use now; `nil` before the first request, and when no token is valid.
    package var expiry: Timestamp? {
        get async { usable?.min { $0.order < $1.order }?.token.expiresAt }
    }

    /// Number of tokens that polls could use, for the account and at the time of the last request. Before the first
    /// request it is the number of tokens read so far.
    package var poolRemaining: Int? { get async { usable?.count ?? entries.count } }

    private var usable: [Entry]? {
        guard let lastAccount, let lastTime else { return nil }
        return entries.filter { isUsable($0, account: lastAccount, at: lastTime) }
    }

    private nonisolated func isUsable(_ entry: Entry, account: DID, at time: Timestamp) -> Bool {
        guard !entry.isRefused, entry.token.expiresAt.map({ $0 > time }) ?? true else { return false }
        return entry.issuer.map(account.isIssuer) ?? true
    }

    /// Rereads the file when it has changed. Tokens that are still in it keep their state.
    private func reload() throws(TokenError) {
        guard let bytes = try file.readIfChanged() else { return }
        let known = Dictionary(entries.map { ($0.token.rawValue, $0) }) { first, _ in first }
        var seen: Set<String> = []
        entries = try Self.texts(in: bytes).filter { seen.insert($0).inserted }.map { text in
            if let entry = known[text] { return entry }
            let claims = CompactJWT.peek(text)
            return Entry(
                token: AccessToken(rawValue: text, expiresAt: Timestamp(numericDate: claims?.exp)),
                issuer: claims?.iss
            )
        }
    }

    private static func texts(in bytes: [UInt8]) throws(TokenError) -> [String] {
        let texts: [String]
        if bytes.first(where: { $0 > 32 }) == UInt8(ascii: "[") {
            guard let list = try? JSONDecoder().decode([String].self, from: Data(bytes)) else { throw wrongForm }
            texts = list
        } else {
            texts = String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isNewline).map {
                String($0).trimmingSpaces
            }.filter { !$0.isEmpty }
        }
        guard !texts.isEmpty, texts.allSatisfy(\.isTokenText) else { throw wrongForm }
        return texts
    }

    private static let wrongForm = TokenError.fileInvalid(
        setting: setting,
        advice: "it must be a JSON array of tokens, or one token per line"
    )
}

extension DID {
    /// Whether a token's `iss` names this account. Ethereum addresses are case-insensitive.
    func isIssuer(_ issuer: String) -> Bool {
        issuer == rawValue || (issuer.hasPrefix("did:ethr:") && issuer.lowercased() == rawValue.lowercased())
    }
}

extension String {
    /// Whether this is valid after `Bearer ` in a header (RFC 6750, 2.1).
    var isTokenText: Bool {
        !isEmpty && utf8.allSatisfy { $0.isAlphanumeric || "-._~+/=".utf8.contains($0) }
    }
}
