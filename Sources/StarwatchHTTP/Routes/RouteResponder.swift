import Hummingbird
import NIOCore
import Starwatch

/// Finds the route of a request and answers it: 404 for no such path, 405 for a path that cannot do that.
///
/// A table of our own in place of Hummingbird's router, which answers 404 to both.
struct RouteResponder: HTTPResponder {
    private let table: [Route]
    private let canControl: Bool
    private let access: AccessPolicy?

    /// - Parameters:
    ///   - control: `nil` on the read-only server.
    ///   - access: `nil` asks nothing of the caller.
    init(read: ReadRoutes, control: ControlRoutes? = nil, access: AccessPolicy? = nil) {
        table = read.table + (control?.table ?? [])
        canControl = control != nil
        self.access = access
    }

    /// The largest body taken. The largest one meant is a list of 1,000 plan identifiers.
    static let bodyLimitBytes = 1_048_576

    func respond(to request: Request, context: ConnectionContext) async throws -> Response {
        let answer = await answer(to: request, on: context.channel)
        if answer.stream != nil, request.method != .head {
            context.channel.triggerUserOutboundEvent(ConnectionGuard.AnswerIsStream(), promise: nil)
        }
        if let whenClosed = answer.whenClosed { context.channel.closeFuture.whenComplete { _ in whenClosed() } }
        return answer.response(withoutBody: request.method == .head)
    }

    private func answer(to request: Request, on channel: any Channel) async -> Answer {
        let head = request.head
        // HTTP/1.1's Host is turned into the authority.
        let host = head.headerFields[.host] ?? head.authority
        guard
            var call = Call(
                method: request.method.rawValue,
                target: head.path ?? "/",
                headers: head.headerFields,
                host: host
            )
        else {
            return .error(400, "invalid", "The address is no path, or has a malformed percent escape.")
        }
        if let access {
            if let refusal = await access.refusal(of: call) { return refusal }
        } else if canControl, let refusal = AccessPolicy.foreignOrigin(of: call, schemes: ["http", "https"]) {
            // Who forwards the socket to a port lets every page of a browser on that machine at it. A proxy may add TLS.
            return refusal
        }
        guard let handlers = table.handlers(for: call.path) else {
            return .error(404, "not_found", "There is no such page; what there is, is linked from /.")
        }
        guard let handler = handlers[call.method == "HEAD" ? "GET" : call.method] else {
            var answer = Answer.error(405, "invalid", "This page does not do that; the Allow header says what it does.")
            let allowed = handlers.keys + (handlers["GET"] == nil ? [] : ["HEAD"])
            answer.headers[.allow] = allowed.sorted().joined(separator: ", ")
            return answer
        }
        // What reads takes no body; one that comes all the same is not kept.
        if call.method != "GET", call.method != "HEAD" {
            do {
                let body = try await request.body.collect(upTo: Self.bodyLimitBytes)
                call.body = Array(body.readableBytesView)
            } catch {
                return .error(413, "invalid", "The body is larger than \(Self.bodyLimitBytes) bytes.")
            }
        }
        channel.triggerUserOutboundEvent(ConnectionGuard.RequestIsComplete(), promise: nil)
        do {
            return try await handler(call)
        } catch {
            return .error(error)
        }
    }
}

/// What a responder knows of where a request came from.
struct ConnectionContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    let channel: any Channel

    init(source: ApplicationRequestContextSource) {
        coreContext = .init(source: source)
        channel = source.channel
    }
}
