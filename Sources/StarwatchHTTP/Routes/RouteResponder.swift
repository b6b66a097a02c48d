import Glibc
import Hummingbird
import NIOCore
import Starwatch

/// Finds the route of a request and runs it. An unknown path gets 404, another method 405.
///
/// Hummingbird's router would answer 404 to both.
struct RouteResponder: Sendable {
    private let agent: any ServedAgent
    private let table: [Route]
    private let canControl: Bool
    private let hosts: HostPolicy?
    private let access: AccessPolicy?
    private let security: PortSecurity?

    /// - Parameters:
    ///   - control: `nil` on the read-only server.
    ///   - hosts: `nil` accepts every `Host`.
    ///   - access: `nil` lets every caller in.
    ///   - security: The web configuration of the port; `nil` if it has none.
    init(
        read: ReadRoutes,
        control: ControlRoutes? = nil,
        hosts: HostPolicy? = nil,
        access: AccessPolicy? = nil,
        security: PortSecurity? = nil
    ) {
        agent = read.agent
        table = read.table + (control?.table ?? [])
        canControl = control != nil
        (self.hosts, self.access, self.security) = (hosts, access, security)
    }

    /// The maximum length of a body. A list of 1,000 plan identifiers fits.
    static let bodyLimitBytes = 1_048_576
    /// The maximum length of an account that is imported, as a text in JSON.
    static let accountLimitBytes = 2 * AccountImport.longestText + 1024

    /// The limit of a request; only the socket takes a whole account.
    private func bodyLimit(of path: [String]) -> Int {
        let takesAccount = access == nil && "/" + path.joined(separator: "/") == ControlAPI.importAccount.path
        return takesAccount ? Self.accountLimitBytes : Self.bodyLimitBytes
    }

    func respond(to request: Request, on channel: any Channel) async -> Response {
        security?.look()
        var answer = await answer(to: request, on: channel)
        if let headers = security?.active.headers { answer.add(headers) }
        if answer.stream != nil, request.method != .head {
            channel.triggerUserOutboundEvent(ConnectionGuard.Event.answerIsStream, promise: nil)
        }
        if let whenClosed = answer.whenClosed { channel.closeFuture.whenComplete { _ in whenClosed() } }
        return answer.response(withoutBody: request.method == .head)
    }

    private func answer(to request: Request, on channel: any Channel) async -> Answer {
        let head = request.head
        // Hummingbird turns the Host header of HTTP/1.1 into the authority.
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
        call.isEncrypted = security?.isEncrypted == true
        guard let host else { return .error(400, "invalid", "HTTP/1.1 needs one Host header; send one.") }
        if let refusal = await refusal(of: &call, host, from: channel.remoteAddress) {
            if let reason = refusal.reason {
                let client = channel.remoteAddress?.ipAddress == nil ? nil : ClientNetwork(channel.remoteAddress)
                agent.noteRefusal(reason, at: canControl ? .control : .http, of: client?.description)
            }
            return refusal.answer
        }
        guard let (handlers, arguments) = table.match(call.path) else {
            return .noSuchPage
        }
        guard let handler = handlers[call.method == "HEAD" ? "GET" : call.method] else {
            var answer = Answer.error(405, "invalid", "This page does not do that; the Allow header says what it does.")
            let allowed = handlers.keys + (handlers["GET"] == nil ? [] : ["HEAD"])
            answer.headers[.allow] = allowed.sorted().joined(separator: ", ")
            return answer
        }
        call.request.arguments = arguments
        let isReading = call.method == "GET" || call.method == "HEAD"
        if !isReading { call.caller = await caller(of: call, on: channel) }
        // Reading takes no body, so one that a client sends is dropped.
        if !isReading {
            let limit = bodyLimit(of: call.path)
            do {
                let body = try await request.body.collect(upTo: limit)
                call.request.body = Array(body.readableBytesView)
            } catch is NIOTooManyBytesError {
                return .error(413, "invalid", "The body is larger than \(limit) bytes.")
            } catch {
                return .error(400, "invalid", "The body is cut off or badly chunked.")
            }
        }
        channel.triggerUserOutboundEvent(ConnectionGuard.Event.requestIsComplete, promise: nil)
        do {
            return try await handler(call)
        } catch {
            return .error(ControlError(error))
        }
    }
}

extension RouteResponder {
    /// The sender of a request that was let in.
    private func caller(of call: Call, on channel: any Channel) async -> Operator {
        if let access { return Operator(.port, access.name(of: call)) }
        // A client that has left cannot be asked who it is.
        guard let user = await channel.peerUser() else { return Operator(.socket) }
        return .user(user, by: .socket)
    }

    private func refusal(of call: inout Call, _ host: String, from address: SocketAddress?) async -> Refusal? {
        if let refusal = foreignHost(host) ?? foreignOrigin(of: call) {
            return access?.counted(refusal, from: address) ?? refusal
        }
        return await access?.refusal(of: &call, from: address)
    }

    private func foreignHost(_ host: String) -> Refusal? {
        guard let hosts, !hosts.allows(host) else { return nil }
        let text = "The Host header must be an address, localhost, or a name in http.allowed_hosts; add the name there."
        return Refusal(reason: .host, answer: .error(403, "forbidden", text))
    }

    /// A socket forwarded to a port is open to every page of a browser there. A proxy can add TLS to it.
    private func foreignOrigin(of call: Call) -> Refusal? {
        guard canControl else { return AccessPolicy.foreignPart(call) }
        let scheme = security?.isEncrypted == true ? "https" : "http"
        return AccessPolicy.foreignOrigin(of: call, schemes: access == nil ? ["http", "https"] : [scheme])
    }
}

extension Channel {
    /// The user of the process at the other end of a Unix socket; `nil` for other connections.
    fileprivate func peerUser() async -> uid_t? {
        guard let provider = self as? any SocketOptionProvider else { return nil }
        // `struct ucred`, which glibc hides.
        let credentials: EventLoopFuture<(process: Int32, user: uid_t, group: gid_t)> = provider.unsafeGetSocketOption(
            level: .init(SOL_SOCKET),
            name: .init(SO_PEERCRED)
        )
        // The system answers for other sockets too, with no user.
        guard let found = try? await credentials.get(), found.user != .max else { return nil }
        return found.user
    }
}
