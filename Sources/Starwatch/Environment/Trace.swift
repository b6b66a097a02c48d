import Instrumentation
import ServiceContextModule
import StarwatchCore
import Tracing

/// Spans for a host that has a tracer. Without a tracer, nothing is created or sent.
enum Trace {
    /// The closed set of spans.
    enum Name: String, CaseIterable {
        /// One poll cycle, including a skipped one.
        case cycle = "starwatch.cycle"
        /// One try of one request to the server.
        case request = "starwatch.request"
        /// One page stored.
        case commit = "starwatch.commit"
        /// One notification handed to one sink.
        case delivery = "starwatch.delivery"
        /// One batch acknowledged, at the server or locally.
        case acknowledge = "starwatch.acknowledge"

        var kind: SpanKind {
            switch self {
            case .cycle, .commit, .acknowledge: .internal
            case .request, .delivery: .client
            }
        }
    }

    /// Runs `body` in a span, which it can fill in. Without a tracer there is no span.
    static func span<Value, Failure: Error>(
        _ name: Name,
        _ body: (TraceSpan?) async throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        guard let tracer else { return try await body(nil) }
        return try await traced(name, by: tracer, body)
    }

    /// Runs `body` in a span. A function of its own, because without a tracer its variables would make the frame of each
    /// span larger than a slab of the task's allocator.
    @inline(never) private static func traced<Value, Failure: Error>(
        _ name: Name,
        by tracer: any Tracer,
        _ body: (TraceSpan?) async throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        let span = tracer.startAnySpan(name.rawValue, ofKind: name.kind)
        defer { span.end() }
        let result = await ServiceContext.$current.withValue(span.context) { () async -> Result<Value, Failure> in
            do throws(Failure) {
                return .success(try await body(TraceSpan(span: span)))
            } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }

    /// W3C Trace Context headers, which tell the server which span a request belongs to.
    static var headers: [(name: String, value: String)] {
        guard let tracer, let context = ServiceContext.current else { return [] }
        var headers: [(name: String, value: String)] = []
        tracer.inject(context, into: &headers, using: HeaderInjector())
        return headers
    }

    /// The host's tracer. It is looked up for every span, because the library cannot know when the host installs one.
    private static var tracer: (any Tracer)? {
        // The common case comes first, because looking for a tracer needs a dynamic cast.
        type(of: InstrumentationSystem.instrument) == NoOpInstrument.self ? nil : InstrumentationSystem.tracer
    }

    /// Drops all other headers of a tracer, because a host's baggage can contain personal data.
    private struct HeaderInjector: Injector {
        func inject(_ value: String, forKey key: String, into carrier: inout [(name: String, value: String)]) {
            guard ["traceparent", "tracestate"].contains(key.lowercased()) else { return }
            carrier.append((key, value))
        }
    }
}

/// A span without personal data: configured names, values of closed sets, and counts only.
struct TraceSpan {
    fileprivate let span: any Span

    /// The closed set of attributes.
    enum Key: String, CaseIterable {
        case poll = "starwatch.poll"
        case sink = "starwatch.sink"
        case endpoint = "starwatch.endpoint"
        case runID = "starwatch.run_id"
        case outcome = "starwatch.outcome"
        case attempt = "starwatch.attempt"
        case fetched = "starwatch.fetched"
        case new = "starwatch.new"
        case count = "starwatch.count"
        case status = "http.response.status_code"
    }

    func set(_ key: Key, _ value: Int) { span.attributes[key.rawValue] = value }

    func set(_ key: Key, _ name: PollName) { span.attributes[key.rawValue] = name.rawValue }

    func set(_ key: Key, _ word: some RawRepresentable<String>) {
        span.attributes[key.rawValue] = word.rawValue
    }

    func set(_ key: Key, run id: String) { span.attributes[key.rawValue] = id }

    func set(_ key: Key, sink name: String) { span.attributes[key.rawValue] = name }

    /// Marks the span as failed with the outcome's word. A free text could quote the server.
    func fail(_ word: some RawRepresentable<String>) {
        set(.outcome, word)
        span.setStatus(SpanStatus(code: .error, message: word.rawValue))
    }
}
