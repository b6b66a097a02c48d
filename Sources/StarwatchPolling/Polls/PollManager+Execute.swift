import Foundation
import StarwatchCore
import StarwatchStore
import StarwatchTransport

extension PollManager {
    /// The maximum number of pages of one request.
    public static let pageCap = 50

    /// Makes a request once, with all its retries.
    ///
    /// It never throws: an error is part of the result. Cancelling the task cancels the request, unless another task
    /// waits for the same one. The result then has the code `CANCELLED`.
    public nonisolated func execute<Request, Response>(
        _ request: PollRequest<Request, Response>,
        context: PollingContext
    ) async -> PollResult<Response> {
        let known = request.isConditional ? validators[context, request.endpoint] : nil
        let (result, validator) = await exchange(request, context: context, validator: known)
        if let validator { validators[context, request.endpoint] = validator }
        return result
    }

    /// Makes a request page by page while `page` returns `true`. Every page gets a new query and body.
    ///
    /// - Parameter page: Takes a page and returns whether there are more. An error that it throws ends the request as
    ///   `EXECUTION_ERROR`.
    /// - Returns: The number of pages. More than ``pageCap`` are a failure.
    public nonisolated func execute<Request, Response>(
        _ request: PollRequest<Request, Response>,
        context: PollingContext,
        page: @Sendable (Response) async throws -> Bool
    ) async -> PollResult<Int> {
        let (startedAt, start) = (time.now, time.monotonic)
        var (requestID, retries, pages) = ("", 0, 0)
        func end(_ outcome: PollResult<Int>.Outcome) -> PollResult<Int> {
            let metadata = PollMetadata(
                requestID: requestID,
                startedAt: startedAt,
                duration: time.monotonic - start,
                retryCount: retries
            )
            return PollResult(outcome, metadata: metadata)
        }
        while pages < Self.pageCap {
            let (result, _) = await exchange(request, context: context, validator: nil)
            requestID = result.metadata.requestID
            retries += result.metadata.retryCount
            if let error = result.error { return end(.failure(error)) }
            guard let value = result.value else { return end(pages == 0 ? .empty : .value(pages)) }
            pages += 1
            do {
                guard try await page(value) else { return end(.value(pages)) }
            } catch {
                return end(.failure(.host("The handling of a page", error)))
            }
        }
        let message = "There are more than \(Self.pageCap) pages; the next run goes on where this one ended."
        return end(.failure(PollError(.execution, message, isRetryable: false)))
    }

    /// - Returns: The result, and the validator of the next request; `nil` if it stays the same.
    nonisolated func exchange<Request, Response>(
        _ request: PollRequest<Request, Response>,
        context: PollingContext,
        validator: StoredValidator?
    ) async -> (PollResult<Response>, StoredValidator?) {
        let (startedAt, start) = (time.now, time.monotonic)
        var (requestID, retries) = ("", 0)
        var next: StoredValidator?
        let outcome: PollResult<Response>.Outcome
        do throws(PollError) {
            let prepared = try await prepare(request, context: context, validator: validator)
            let key = prepared.identity(idempotencyKey: request.idempotencyKey)
            let answer = await flights.run(key) { [requester] in await requester.send(prepared) }
            guard let answer else { throw .cancelled }
            (requestID, retries) = (answer.requestID, answer.retryCount)
            let response: HTTPResponse
            switch answer.result {
            case .success(let success): response = success
            case .failure(let error):
                throw error.code == .cancelled ? error : request.schema.transformError(error)
            }
            outcome = try Self.read(response, of: request)
            if request.isConditional, case .value = outcome {
                next = StoredValidator(
                    url: prepared.message.url,
                    etag: response.headers["ETag"],
                    lastModified: response.headers["Last-Modified"]
                )
            }
        } catch {
            outcome = .failure(error)
        }
        let duration = time.monotonic - start
        hooks.observer.ended(HostPollOutcome(outcome), after: duration)
        let metadata = PollMetadata(requestID: requestID, startedAt: startedAt, duration: duration, retryCount: retries)
        return (PollResult(outcome, metadata: metadata), next)
    }

    /// The problem of a request, whatever its context; `nil` if there is none.
    static func problem<Request, Response>(with request: PollRequest<Request, Response>) -> PollError? {
        if !request.endpoint.hasPrefix("/") { return .invalid("The endpoint is a path and begins with /.") }
        if request.method != .get {
            if request.isConditional { return .invalid("Only a get can be conditional.") }
            if case .contextOrAnonymous = request.authorization {
                return .invalid("Only a get may go without the token it would have.")
            }
        }
        if request.body != nil, request.method == .get || request.method == .delete {
            return .invalid("A get or delete has no body; use its query.")
        }
        return nil
    }

    /// Resolves everything, as late as possible.
    private nonisolated func prepare<Request, Response>(
        _ request: PollRequest<Request, Response>,
        context: PollingContext,
        validator: StoredValidator?
    ) async throws(PollError) -> PreparedRequest {
        if let problem = Self.problem(with: request) { throw problem }
        guard let server = ServerURL(context.server) else {
            throw .invalid("The server is an http or https URL without credentials, query or fragment.")
        }
        var url = server.base + request.endpoint
        let body: [UInt8]?
        do {
            for (index, item) in try await request.query(context).enumerated() {
                url += index == 0 && !url.contains("?") ? "?" : "&"
                url += PercentEncoding.encode(item.name) + "=" + PercentEncoding.encode(item.value)
            }
            if let make = request.body { body = try Self.encode(try await make(context)) } else { body = nil }
        } catch {
            throw .host("The making of the request", error)
        }
        let tokens: PollTokens.Source? =
            switch request.authorization {
            case .context, .contextOrAnonymous: context.tokens.source
            case .anonymous: nil
            case .tokens(let tokens): tokens.source
            }
        var mayGoWithoutToken = false
        if case .contextOrAnonymous = request.authorization { mayGoWithoutToken = true }
        return PreparedRequest(
            message: HTTPRequest(
                method: HTTPRequest.Method(rawValue: request.method.rawValue) ?? .get,
                url: url,
                headers: request.headers.sorted { $0.key < $1.key }.map { ($0.key, $0.value) },
                body: body,
                timeout: request.timeout,
                maxResponseBytes: request.maxResponseBytes
            ),
            origin: server.origin,
            account: context.account,
            tokens: tokens,
            mayGoWithoutToken: mayGoWithoutToken,
            idempotencyKey: request.idempotencyKey ?? (request.method == .post ? RandomID.uuid() : nil),
            validator: request.isConditional && validator?.url == url ? validator : nil,
            retry: request.retry ?? retry
        )
    }

    private static func encode(_ value: some Encodable) throws -> [UInt8] {
        if let data = value as? Data { return Array(data) }
        // Equal values must encode to equal bytes, so that identical requests are recognised.
        return Array(try JSONEncoder.stable().encode(value))
    }

    /// Reads an answer: parses, validates and transforms it.
    private static func read<Request, Response>(
        _ response: HTTPResponse,
        of request: PollRequest<Request, Response>
    ) throws(PollError) -> PollResult<Response>.Outcome {
        if response.status == 304 { return .notModified }
        if response.status == 204 { return .empty }
        func refused(_ issues: [ValidationIssue]) -> PollError {
            var error = PollError(.validation, "Response validation failed", isRetryable: false)
            error.status = response.status
            error.issues = issues
            return request.schema.transformError(error)
        }
        let value: Response
        do {
            value = try JSONDecoder().decode(Response.self, from: Data(response.body))
        } catch {
            guard response.body.first(where: { !" \t\r\n".utf8.contains($0) }) == UInt8(ascii: "<") else {
                throw refused([ValidationIssue(error)])
            }
            var html = refused([ValidationIssue(path: "$", problem: .unreadable)])
            html.message =
                "The answer is a page of HTML and no JSON; check the endpoint, or log in at the network's portal."
            throw html
        }
        let issues = request.schema.check(value)
        guard issues.isEmpty else { throw refused(issues) }
        do {
            return .value(try request.transform(value))
        } catch {
            throw request.schema.transformError(.host("The transformation of the answer", error))
        }
    }
}

extension ValidationIssue {
    /// Location and cause of a decoding failure.
    init(_ error: any Error) {
        guard let error = error as? DecodingError else {
            self.init(path: "$", problem: .invalid)
            return
        }
        switch error {
        case .keyNotFound(let key, let context):
            self.init(path: Self.path(context.codingPath + [key]), problem: .missing)
        case .valueNotFound(_, let context):
            self.init(path: Self.path(context.codingPath), problem: .missing)
        case .typeMismatch(_, let context):
            self.init(path: Self.path(context.codingPath), problem: .wrongType)
        case .dataCorrupted(let context):
            self.init(path: Self.path(context.codingPath), problem: .invalid)
        @unknown default:
            self.init(path: "$", problem: .invalid)
        }
    }
    private static func path(_ keys: [any CodingKey]) -> String {
        keys.reduce("$") { $0 + ($1.intValue.map { "[\($0)]" } ?? "." + $1.stringValue) }
    }
}
