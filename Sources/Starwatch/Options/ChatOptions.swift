/// A service with chat rooms or push messages, to which a webhook sink can post in the service's own format.
public enum ChatService: String, Sendable, Hashable, CaseIterable {
    case slack, discord, mattermost, matrix, telegram, teams, gotify, pushover, apprise
}

/// The settings of a sink that posts to a chat.
public struct ChatOptions: Sendable, Hashable {
    /// Where the service's URL comes from.
    public enum Address: Sendable, Hashable {
        /// A URL: that of the service's incoming webhook, which is a secret, or that of the server.
        case url(String)
        /// A file with the URL. It is read before every request, so that a changed file takes effect at once.
        case file(String)
        /// The service's public address, for Telegram and Pushover.
        case standard
    }

    /// The service.
    public var service: ChatService
    /// The service's address. By default its public one.
    public var address = Address.standard
    /// The receiver: the room's id at Matrix, the chat's id at Telegram, the user's or group's key at Pushover. `nil`, the
    /// default, at the others.
    public var room: String?
    /// The topic of a group at Telegram, `message_thread_id`. `nil`, the default: the group's general one.
    public var topic: Int?
    /// A file with the token of Matrix, Telegram, Gotify or Pushover. `nil`, the default, at the others.
    public var tokenFile: String?
    /// The time limit of a request. By default 10 s.
    public var timeout = Duration.seconds(10)

    public init(_ service: ChatService) { self.service = service }

    /// The numbers that a topic can have.
    package static let topics = 1...Int(Int32.max)
}

extension ChatService {
    /// Whether the service needs ``ChatOptions/room``.
    package var needsRoom: Bool { [.matrix, .telegram, .pushover].contains(self) }

    /// Whether a room of the service can have topics.
    package var hasTopics: Bool { self == .telegram }

    /// Whether the service needs ``ChatOptions/tokenFile``.
    package var needsToken: Bool { [.matrix, .telegram, .gotify, .pushover].contains(self) }

    /// Whether the service's address allows everyone who has it to post.
    package var hasSecretURL: Bool { standardURL == nil && !needsToken }

    /// The public address; `nil` if each user has an own one.
    package var standardURL: String? {
        switch self {
        case .telegram: "https://api.telegram.org"
        case .pushover: "https://api.pushover.net"
        case .slack, .discord, .mattermost, .matrix, .teams, .gotify, .apprise: nil
        }
    }

    /// Required part of the URL's path, from the service's documentation, after which more must follow; `nil` for any path.
    package var path: String? {
        switch self {
        case .slack: "/services/"
        case .discord: "/api/webhooks/"
        case .mattermost: "/hooks/"
        case .teams: "/workflows/"
        case .apprise: "/notify/"
        case .matrix, .telegram, .gotify, .pushover: nil
        }
    }
}
