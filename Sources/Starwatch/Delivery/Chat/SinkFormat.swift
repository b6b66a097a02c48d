import FoundationEssentials
import StarwatchCore
import StarwatchTransport

/// The requests in which a service takes notifications, and the meaning of its answers: chats, push messages and others.
///
/// The fields and limits are those of the services' documentation of 2026. Each chat gets the text so that it shows it as
/// it is: names of projects are others' text, and must not become markup, links or mentions.
public struct SinkFormat: Sendable, Hashable, CaseIterable {
    /// The chats in whose format a webhook can post, in the order of the reference.
    public static let allCases: [SinkFormat] = [
        .slack, .discord, .mattermost, .matrix, .telegram, .teams, .gotify, .pushover, .apprise,
    ]

    /// The content of a request.
    struct Draft {
        let notification: OutgoingNotification
        var room = ""
        var topic: Int?
        var secret: [UInt8]?
        var account: DID?
        var catalogues = MessageCatalogues.builtIn
        var now = Timestamp(milliseconds: 0)

        var token: String { String(decoding: secret ?? [], as: UTF8.self) }
    }

    /// The name in the configuration file.
    public let rawValue: String
    /// The public address; `nil` if each user has an own one.
    var standardURL: String?
    /// Required part of the URL's path, from the service's documentation, after which more must follow; `nil` for any path.
    var path: String?
    /// Whether the service needs a receiver: the room's id at Matrix, the chat's id at Telegram, the user's or group's key at
    /// Pushover.
    var needsRoom = false
    var needsToken = false
    /// Whether a room of the service can have topics.
    var hasTopics = false
    /// Whether the service can remove a notification that is taken back.
    var takesBack = false
    /// Texts of the requests that nobody may read in an answer.
    var literals: [String] = []
    var request: @Sendable (Draft) throws(SinkFailure) -> ServiceRequest = { ServiceRequest($0.notification.payload) }
    /// The failure of a secret that cannot be used.
    var unusable = SinkFailure("The sink's token_file cannot be read.", .tokenFile)
    /// Returns what is wrong with a receiver, or `nil`.
    var roomProblem: @Sendable (String) -> String? = { _ in nil }
    /// The parts of the address that a status can refuse beside the URL; `nil` if none refuses the address.
    var access: [SinkAddress.Part]?
    /// Returns the parts of the address that an answer refuses by its words; `nil` for what the status alone says. `says` returns
    /// whether a field has words, in upper or lower case.
    var refuses: @Sendable (_ status: Int, _ says: (_ words: String, _ field: String) -> Bool) -> [SinkAddress.Part]? =
        {
            _,
            _ in nil
        }
    /// The sentence about a refusal.
    var refusal: @Sendable (_ status: Int, [SinkAddress.Part]) -> String = { status, refused in
        let room = refused.contains(.topic) ? "room, topic" : "room"
        return "The service refuses the sink (HTTP \(status)); correct its url, \(room) or token_file."
    }
    /// Returns the part of the address whose messages a limit counts, as Pushover does for a month; `nil` for a limit of the
    /// host.
    var limits: @Sendable (JSONTree?) -> SinkAddress.Part? = { _ in nil }
    /// Returns the wait that an answer without `Retry-After` asks for.
    var wait: @Sendable (HTTPResponse, _ now: Timestamp) -> Duration? = { _, _ in nil }

    init(_ name: String, _ change: (inout SinkFormat) -> Void) {
        rawValue = name
        change(&self)
    }

    /// A chat, which gets the text, names and links of a notification.
    init(chat name: String, _ change: (inout SinkFormat) -> Void) {
        self.init(name, change)
        wait = { Self.chatWait($0, now: $1) }
        access = [needsRoom ? SinkAddress.Part.room : nil, needsToken ? .secret : nil].compactMap(\.self)
        if needsToken { limits = { _ in .secret } }
    }

    /// Sets the requests of a chat.
    mutating func message(_ make: @escaping @Sendable (ChatMessage, _ to: Draft) -> ServiceRequest) {
        request = { make(ChatMessage($0.notification, catalogues: $0.catalogues), $0) }
    }

    public static func == (left: SinkFormat, right: SinkFormat) -> Bool { left.rawValue == right.rawValue }

    public func hash(into hasher: inout Hasher) { hasher.combine(rawValue) }

    /// The meaning of an answer.
    func result(_ exchange: HTTPExchange, brought: [SinkAddress.Part], at now: Timestamp) -> SinkResult {
        let response = try? exchange.result.get()
        // A body that was too long has a status too.
        let (status, json) = (response?.status ?? exchange.status ?? 0, JSONTree(json: response?.body ?? []))
        func says(_ words: String, in field: String) -> Bool {
            json?[field]?.scalar?.lowercased().contains(words.lowercased()) == true
        }
        let refused = access.map { refuses(status, says) ?? SinkAddress.Part.refused(by: status, of: $0) } ?? []
        if !refused.isEmpty {
            // A wrong address, receiver or token is no fault of the notification, which waits as one does whose mail server
            // refuses the login. It concerns one of many accounts alone if that account brought one of these parts.
            var result = SinkResult.unavailable(
                SinkFailure(refusal(status, refused), FailureReason(status: status))
            )
            (result.said, result.isOfReceiver) = (response?.body ?? [], refused.contains { brought.contains($0) })
            return result
        }
        var result = SinkResult(exchange, at: now, wait: response.flatMap { wait($0, now) })
        result.isOfReceiver = status == 429 && limits(json).map { brought.contains($0) } == true
        return result
    }

    /// Returns what is wrong with the path of an address, or `nil`.
    func problem(ofURL url: String) -> String? {
        guard let part = path else { return nil }
        let path = URLComponents(string: url)?.path ?? ""
        guard let found = path.firstRange(of: part) else {
            return "must be the address that \(rawValue) gave, with \(part) in it."
        }
        return path[found.upperBound...].allSatisfy { $0 == "/" }
            ? "must not end after \(part); add the rest of the address that \(rawValue) gave." : nil
    }

    /// Reads the address in a file, which can change after the start.
    ///
    /// - Throws: ``SinkFailure`` if the file cannot be read, or has no good address.
    func address(in file: SecretFile) throws(SinkFailure) -> String {
        var file = file
        guard let bytes = try? file.read() else {
            throw SinkFailure("The sink's url_file cannot be read.", .tokenFile)
        }
        let url = String(decoding: bytes, as: UTF8.self).trimmingSpaces
        guard SinkAddress.isGood(url: url), problem(ofURL: url) == nil else {
            throw SinkFailure("The sink's url_file has no good address; run starwatch check.", .tokenFile)
        }
        return url
    }
}
