import StarwatchCore
import StarwatchPolling
import StarwatchTransport

/// The first page of a list, as a poll of the kind `json` understands it.
package struct ListTrial: Sendable, Encodable {
    /// An item of the page.
    package struct Item: Sendable, Encodable {
        package let id: String
        package let version: String
        package let name: String?
        package let link: String?
        package let fields: [String: String]
    }

    /// The largest number of shown items.
    private static let shown = 10

    package let poll: String
    /// The HTTP status; `nil` without an answer.
    package private(set) var status: Int?
    /// The number of items on the page.
    package private(set) var fetched = 0
    /// The number of items that cannot be read.
    package private(set) var refused = 0
    /// The first items.
    package private(set) var items: [Item] = []
    /// The next page: a URL without its query, or a parameter; `nil` if there is none.
    package private(set) var next: String?
    /// What is wrong, each with what to do.
    package private(set) var problems: [String] = []

    /// Whether the page was understood.
    package var isGood: Bool { status != nil && problems.isEmpty }

    private init(poll: PollName) { self.poll = poll.rawValue }

    /// Asks for the first page of a list once, without an agent and a database.
    ///
    /// - Throws: ``AgentError`` of kind `configuration` if an option or a secret is unusable.
    package static func run(_ poll: PollOptions, of options: AgentOptions) async throws(AgentError) -> ListTrial {
        guard let list = poll.json else { throw AgentError(.failed, "Only polls of the kind json can be tried.") }
        let (client, http) = try AgentParts.client(of: poll, options)
        defer { http.shutdown() }
        var walk = ListWalk(list, known: ListState(), isBootstrap: true, now: SystemClock().now)
        var trial = ListTrial(poll: poll.name)
        guard let request = walk.next() else { return trial }
        var message = EndorserRequest(.list, of: nil, runID: RandomID.runID())
        message.url = request.url
        let exchange = await client.send(message, id: RandomID.uuid())
        trial.status = exchange.response?.status
        switch exchange.answer {
        case .failure(let failure): trial.problems.append(failure.reason)
        case .success(let response): trial.read(response, of: list, request)
        }
        return trial
    }

    private mutating func read(_ response: HTTPResponse, of list: JSONPoll, _ request: ListRequest) {
        let link = response.headers["Link"]
        // The items that can be read are shown, with what is wrong with the others.
        for setsAside in [false, true] {
            guard let answer = ListReader(list, setsAside: setsAside).read(response.body, of: request, link: link)
            else {
                return problems.append(response.notJSON.reason)
            }
            switch answer {
            case .success(let page): return show(page, of: list, response.body)
            case .failure(let rejection):
                if let sentence = rejection.sentence, !problems.contains(sentence) { problems.append(sentence) }
                if !rejection.isOfItems { return problems += advice(list, response.body) }
            }
        }
    }

    private mutating func show(_ page: ListPage, of list: JSONPoll, _ body: [UInt8]) {
        (fetched, refused) = (page.fetched, page.refused.count)
        items = page.items.prefix(Self.shown).map { item in
            Item(
                id: item.id,
                version: item.version.text,
                name: item.name,
                link: item.details?.link,
                fields: item.details?.fields ?? [:]
            )
        }
        next =
            switch page.next {
            case nil: nil
            case .url(let url): String(url.prefix { $0 != "?" })
            case .parameter(let name, _): "the parameter \(name)"
            }
        problems += advice(list, body)
    }

    private func advice(_ list: JSONPoll, _ body: [UInt8]) -> [String] {
        ListAdvice.sentences(for: list, in: body).filter { !problems.contains($0) }
    }
}
