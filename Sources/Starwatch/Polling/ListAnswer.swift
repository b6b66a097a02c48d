import StarwatchCore
import StarwatchTransport

/// The answer to one request for a page of a list.
struct ListAnswer: Sendable {
    /// The page, or the reason why it was rejected; `nil` if the list has not changed.
    let page: Result<ListPage, PageRejection>?
    let etag: String?
    let lastModified: String?
    /// The origin that the stored changes of the page keep.
    private(set) var origin: PageOrigin?

    private init(page: Result<ListPage, PageRejection>?, _ response: HTTPResponse) {
        self.page = page
        (etag, lastModified) = (response.headers["ETag"], response.headers["Last-Modified"])
    }

    func asked(_ origin: PageOrigin) -> ListAnswer {
        var copy = self
        copy.origin = origin
        return copy
    }

    /// Reads a response. One whose bytes are not JSON is a failed request; a page that is not as the settings say is not.
    static func read(
        _ response: HTTPResponse,
        to request: ListRequest,
        isConditional: Bool,
        by reader: ListReader
    ) -> Result<ListAnswer, APIFailure> {
        switch response.status {
        case 304: return isConditional ? .success(ListAnswer(page: nil, response)) : .failure(.unexpectedNotModified)
        case 204: return .success(ListAnswer(page: .success(ListPage()), response))
        default:
            guard let page = reader.read(response.body, of: request, link: response.headers.list("Link")) else {
                return .failure(response.notJSON)
            }
            return .success(ListAnswer(page: page, response))
        }
    }
}
