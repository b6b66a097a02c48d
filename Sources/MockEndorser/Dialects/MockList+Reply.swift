import Foundation

extension MockList {
    /// The answer to a request for a page.
    func respond(to request: IncomingRequest) -> Reply {
        if let requires, request.header(requires.header) != requires.value {
            return .json(401, ["error": "unauthorized"])
        }
        let wanted = items.filter { isWanted($0, by: request) }
        let first = paging?.first ?? 1
        let asked = request.parameter(paging?.name ?? "").flatMap { Int($0) }
        let size = pageSize ?? max(wanted.count, 1)
        let offset = max(0, paging?.page == nil ? asked ?? 0 : ((asked ?? first) - first) * size)
        let page = Array(wanted.dropFirst(offset).prefix(size))
        let following = offset + size < wanted.count ? offset + size : nil
        var body = MockPointer(place ?? "").setting(.array(page), in: envelope ?? .object([]))
        if let cursor = paging?.cursor {
            body = MockPointer(cursor).setting(following.map { .string("\($0)") } ?? .null, in: body)
        }
        let url = following.map { "http://\(request.header("Host") ?? "")\(path)?\(parameters(request, offset: $0))" }
        if let place = paging?.nextURL { body = MockPointer(place).setting(JSONValue(url), in: body) }
        var reply = Reply.json(200, body)
        if let url, paging?.linkHeader == true { reply.headers.append(("Link", "<\(url)>; rel=\"next\"")) }
        reply.headers += (headers ?? [:]).sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
        if etag != false { reply.addETag(for: request) }
        // A second for each change, so that two changes in one second have two times.
        if lastModified == true { reply.addLastModified(1_767_225_600 + changes, for: request) }
        return reply
    }

    private func isWanted(_ item: JSONValue, by request: IncomingRequest) -> Bool {
        guard let since, let least = request.parameter(since.parameter),
            let value = MockPointer(since.from).value(in: item)?.scalar
        else { return true }
        if let number = Double(value), let least = Double(least) { return number >= least }
        return value >= least
    }

    /// The query of a request with another offset.
    private func parameters(_ request: IncomingRequest, offset: Int) -> String {
        let others = (request.query ?? "").split(separator: "&").filter { !$0.hasPrefix("offset=") }
        return (others.map(String.init) + ["offset=\(offset)"]).joined(separator: "&")
    }
}
