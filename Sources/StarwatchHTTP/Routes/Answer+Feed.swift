import Hummingbird

extension Answer {
    /// A page of the feed; without a body if the reader has this page already.
    static func feed(_ document: FeedDocument, for call: Call) -> Answer {
        let known = call.headers[.ifNoneMatch]?.split(separator: ",").map { tag in
            tag.drop { $0 == " " }.replacing("W/", with: "")
        }
        let isKnown = known?.contains { $0 == document.tag || $0 == "*" } ?? false
        var answer = Answer(
            status: isKnown ? 304 : 200,
            contentType: document.format.contentType,
            body: isKnown ? [] : Array(document.text.utf8)
        )
        answer.headers[.eTag] = document.tag
        // A reader can keep it, and asks whether it is still good.
        answer.headers[.cacheControl] = "private, no-cache"
        // The addresses in it are those that the reader used.
        answer.headers[.vary] = "Host, X-Forwarded-Proto"
        return answer
    }
}
