import StarwatchCore
import StarwatchPolling
import StarwatchTransport

/// The first page of a list, asked for once. Nothing is stored.
package struct ListTrial: Sendable, Hashable, Encodable {
    /// An item as the settings read it.
    package struct Item: Sendable, Hashable, Encodable {
        package var id: String
        /// `nil` if a digest of the item is its version.
        package var version: String?
        package var name: String?
        package var link: String?
        package var fields: [String: String]
    }

    /// A place that some items do not have.
    package struct Gap: Sendable, Hashable, Encodable {
        package var setting: String
        package var pointer: String
        package var items: Int
    }

    package var poll: String
    /// HTTP status; `nil` without an answer.
    package var status: Int?
    /// The number of items on the page.
    package var fetched = 0
    /// The first items that were read.
    package var items: [Item] = []
    /// The number of items that cannot be read.
    package var refused = 0
    /// The reasons, each once.
    package var refusals: [String] = []
    /// Whether the answer names a next page.
    package var hasNext = false
    package var gaps: [Gap] = []
    /// The places of all values of an item.
    package var places: [String] = []
    /// The place of a list of objects, if there is none where `items` says.
    package var list: String?
    /// The reason why the page cannot be used, as a sentence; `nil` for a page.
    package var problem: String?

    /// The largest number of listed items.
    private static let mostItems = 10
    private static let mostRefusals = 5
    /// The longest time for the answer. Nobody waits longer on a terminal.
    private static let longestRequest = Duration.seconds(10)

    package init(poll: String) { self.poll = poll }

    /// Whether the settings read at least one item, or an empty list.
    package var isGood: Bool { problem == nil && (fetched == 0 || fetched > refused) }

    /// Asks for the first page of a poll of the kind `json`.
    ///
    /// - Throws: ``AgentError`` of kind `configuration` if an option or a secret is unusable.
    package static func of(_ poll: PollOptions, _ options: AgentOptions) async throws(AgentError) -> ListTrial {
        var trial = ListTrial(poll: poll.name.rawValue)
        guard let list = poll.json else {
            throw AgentError(.configuration, "polls.\(poll.name) is not of the kind json; add its url and id.")
        }
        var walk = ListWalk(list, known: ListState(), now: SystemClock().now)
        guard let request = walk.next() else { return trial }
        let headers = try SecretFiles.ofProcess.headers(list.headersFile, of: "polls.\(poll.name)")
        switch try await answer(request, headers, options) {
        case .success(let response): trial.read(response, to: request, as: list)
        case .failure(let failure): trial.problem = failure.cause.sentenceOfList
        }
        return trial
    }

    /// Asks for the list at a URL, and guesses its settings.
    ///
    /// - Throws: ``AgentError`` of kind `failed` if there is no list.
    package static func guess(
        _ url: String,
        _ headers: [(name: String, value: String)]
    ) async throws(AgentError) -> ListGuess {
        var options = AgentOptions()
        options.server.url = ServerURL.origin(of: url) ?? url
        let response: HTTPResponse
        switch try await answer(ListRequest(url: url, page: 1), headers, options) {
        case .success(let answer): response = answer
        case .failure(let failure): throw AgentError(.failed, failure.cause.sentenceOfList)
        }
        guard (200..<300).contains(response.status) else {
            throw AgentError(.failed, FailureReason(status: response.status).sentenceOfList)
        }
        if let guess = ListGuess(response.body, link: response.headers.list("Link")) { return guess }
        guard JSONText.isValid(response.body) else {
            throw AgentError(.failed, response.notJSON.cause.sentenceOfList)
        }
        throw AgentError(.failed, "The answer has no list of objects, or an empty one; write the poll by hand.")
    }

    private static func answer(
        _ request: ListRequest,
        _ headers: [(name: String, value: String)],
        _ options: AgentOptions
    ) async throws(AgentError) -> Result<HTTPResponse, APIFailure> {
        guard let server = ServerURL(options.server.url) else {
            throw AgentError(.configuration, "server.url must be an http or https URL.")
        }
        let http = try AgentParts.transport(to: server, options, time: SystemClock())
        defer { http.shutdown() }
        var options = options
        options.server.timeout = min(options.server.timeout, longestRequest)
        var message = EndorserRequest(.list, of: nil, runID: RandomID.runID())
        message.url = request.url
        let client = AgentParts.client(options, http: http, headers: headers)
        return await client.send(message, id: RandomID.uuid()).result
    }

    /// Reads the answer.
    private mutating func read(_ response: HTTPResponse, to request: ListRequest, as list: JSONPoll) {
        status = response.status
        if response.status == 204 { return }
        guard (200..<300).contains(response.status) else {
            return problem = FailureReason(status: response.status).sentenceOfList
        }
        guard let preview = ListPreview(response.body, of: request, link: response.headers.list("Link"), as: list)
        else {
            return problem = response.notJSON.cause.sentenceOfList
        }
        (places, self.list) = (preview.places, preview.otherList?.rawValue)
        switch preview.page {
        case .success(let page):
            (fetched, refused, hasNext) = (page.fetched, page.refused.count, page.next != nil)
            items = page.items.prefix(Self.mostItems).map { Item($0, hasVersion: list.version != nil) }
            for text in preview.refusals where !refusals.contains(text) && refusals.count < Self.mostRefusals {
                refusals.append(text)
            }
            gaps = preview.gaps.map { Gap(setting: $0.setting, pointer: $0.place.rawValue, items: $0.count) }
        case .failure(let rejection): problem = rejection.sentence ?? FailureReason(.contract).sentence
        }
    }
}

extension ListTrial.Item {
    fileprivate init(_ item: ListItem, hasVersion: Bool) {
        self.init(
            id: item.id,
            version: hasVersion ? item.version.text : nil,
            name: item.name,
            link: item.details?.link,
            fields: item.details?.fields ?? [:]
        )
    }
}

extension FailureReason {
    /// The failure of a request to a list's server, with advice about the poll's settings.
    fileprivate var sentenceOfList: String {
        let advice =
            switch status ?? 0 {
            case 401, 403: "check headers_file"
            case 300..<400: "set url to the redirect's target"
            case 400..<500: "check url and query"
            case 500...: "try again later"
            default: cause == .html ? "check url, which must be that of the API" : "check url and the network"
            }
        return "The request failed (\(phrase)); \(advice)."
    }
}
