import InMemoryTracing
import Instrumentation
import Tracing

/// Keeps spans in memory and tells receivers of them as W3C Trace Context says; and of more than they should know.
struct W3CTracer: Tracer {
    let memory = InMemoryTracer()

    func startSpan<Instant: TracerInstant>(
        _ operationName: String,
        context: @autoclosure () -> ServiceContext,
        ofKind kind: SpanKind,
        at instant: @autoclosure () -> Instant,
        function: String,
        file fileID: String,
        line: UInt
    ) -> InMemorySpan {
        memory.startSpan(
            operationName,
            context: context(),
            ofKind: kind,
            at: instant(),
            function: function,
            file: fileID,
            line: line
        )
    }

    func forceFlush() {}

    func inject<Carrier, Inject: Injector>(
        _ context: ServiceContext,
        into carrier: inout Carrier,
        using injector: Inject
    )
    where Inject.Carrier == Carrier {
        guard let span = context.inMemorySpanContext else { return }
        injector.inject(Self.traceparent(span), forKey: "traceparent", into: &carrier)
        injector.inject("person=alice", forKey: "baggage", into: &carrier)
    }

    func extract<Carrier, Extract: Extractor>(
        _ carrier: Carrier,
        into context: inout ServiceContext,
        using extractor: Extract
    )
    where Extract.Carrier == Carrier {}

    static func traceparent(_ span: InMemorySpanContext) -> String {
        func padded(_ text: String, _ width: Int) -> String {
            let digits = text.filter(\.isNumber)
            return String(repeating: "0", count: width - digits.count) + digits
        }
        return "00-\(padded(span.traceID, 32))-\(padded(span.spanID, 16))-01"
    }
}

extension FinishedInMemorySpan {
    /// An attribute as text.
    func text(_ key: String) -> String? {
        switch attributes.get(key) {
        case .string(let value)?: value
        case .int64(let value)?: "\(value)"
        case .int32(let value)?: "\(value)"
        default: nil
        }
    }

    /// All attributes as text.
    var texts: [String: String] {
        var texts: [String: String] = [:]
        attributes.forEach { key, _ in texts[key] = text(key) ?? "?" }
        return texts
    }
}
