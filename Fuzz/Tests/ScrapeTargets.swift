import Foundation
import Starwatch

@testable import StarwatchHTTP
@testable import StarwatchTelemetry

/// Data from and for scrapers.
extension FuzzTarget {
    /// A page reads back as what was put in, by a parser written from the specification; both formats say the same.
    ///
    /// The input: eight bytes for a value, and a help, a label and a run id with zeros between them.
    static let exposition = FuzzTarget(
        name: "exposition",
        words: ["\\", "\"", "\n", "{", "}", "# EOF\n", " # {", "le=\"", "\u{301}", "\u{2028}", "\0"],
        tries: 3000
    ) { input in
        var number = Array(input.prefix(8))
        number += [UInt8](repeating: 0, count: 8 - number.count)
        let value = Double(bitPattern: number.reduce(0) { $0 << 8 | UInt64($1) })
        let texts =
            input.dropFirst(8).split(separator: 0, maxSplits: 2, omittingEmptySubsequences: false)
            .map { Array($0).text } + ["", "", ""]
        let (help, label, run) = (texts[0], texts[1], texts[2])
        let gauge = Gauge()
        gauge.set(value)
        let bounds = [value.isFinite ? value : 1]
        let histogram = Histogram(bounds: bounds, carriesExemplars: true)
        histogram.observe(
            value,
            exemplar: Exemplar(runID: run, atMilliseconds: Int64(bitPattern: UInt64(number[0])) << 40)
        )
        let labels = [(name: "l", value: label)]
        func page(_ format: ExpositionFormat) -> [UInt8] {
            var page: [UInt8] = []
            let families: [(MetricDescriptor, any MetricSeries)] = [
                (descriptor("t_a", .gauge, help), ComputedSeries(name: "t_a", labels: labels) { gauge.value }),
                (
                    descriptor("t_b", .histogram, help),
                    HistogramSeries(
                        name: "t_b",
                        labels: labels,
                        histogram: histogram,
                        buckets: HistogramSeries.labels(histogram.bounds)
                    )
                ),
            ]
            for (descriptor, series) in families {
                MetricFamily(descriptor: descriptor, series: [series]).write(to: &page, format: format)
            }
            return page
        }
        do {
            let families = try OpenMetricsParser.parse(page(.openMetrics) + Array("# EOF\n".utf8))
            guard families.count == 2, let sample = families[0].samples.first else { return "not two families" }
            func same(_ a: String?, _ b: String) -> Bool { a.map { $0.utf8.elementsEqual(b.utf8) } ?? false }
            guard same(families[0].help, help), same(sample.labels["l"], label) else { return "a text changed" }
            let read = Double(sample.value.replacing("+Inf", with: "inf").replacing("-Inf", with: "-inf"))
            guard read == value || (value.isNaN && sample.value == "NaN") else {
                return "\(value) became \(sample.value)"
            }
            for bucket in families[1].samples.compactMap({ $0.labels["le"] }) where bucket != "+Inf" {
                guard Double(bucket) == bounds.first else { return "the bound \(bounds) became \(bucket)" }
            }
        } catch {
            return "\(error)"
        }
        // HELP, TYPE, a sample; HELP, TYPE, the buckets, sum and count.
        return page(.text).count { $0 == 10 } == 8 + bounds.count ? nil : "a line too many or too few"
    }

    private static func descriptor(_ name: String, _ kind: MetricKind, _ help: String) -> MetricDescriptor {
        MetricDescriptor(name: name, kind: kind, unit: .none, help: help, stability: .detail, carriesExemplars: true)
    }

    /// Any header gets an answer, and blanks and capitals that mean nothing change none.
    static let negotiation = FuzzTarget(
        name: "negotiation",
        words: [
            "application/openmetrics-text", "text/plain", "*/*", "text/*", "version=1.0.0", "version=0.0.4", ";q=",
            "0.5", ".5",
            "1.000", ",", ";", "\"", " ", "charset=utf-8", "gzip", "identity", "escaping=allow-utf-8", "\u{301}",
        ],
        tries: 6000
    ) { input in
        let header = input.text
        let format = ContentNegotiation.choose(accept: header)
        let gzip = ContentNegotiation.acceptsGzip(header)
        let isPlain = input.allSatisfy { (32..<127).contains($0) }
        guard isPlain, !input.contains(UInt8(ascii: "\"")) else { return nil }
        for same in [
            " \(header) ", header.uppercased(), header.replacing(",", with: " , "), header.replacing(";", with: " ; "),
        ] {
            guard ContentNegotiation.choose(accept: same) == format else { return "another format for \(same)" }
            guard ContentNegotiation.acceptsGzip(same) == gzip else { return "another encoding for \(same)" }
        }
        return nil
    }

    /// A request's target is read or refused; what is read has no escapes left and comes back from being escaped.
    static let target = FuzzTarget(
        name: "target",
        words: [
            "%", "%2f", "%00", "%ff", "%25", "+", "?", "&", "=", "/", "//", "..", "name[]=", "http://", "@", ":", "#",
        ],
        tries: 10_000
    ) { input in
        guard let call = Call(method: "GET", target: input.text) else { return nil }
        if call.path.isEmpty { return "no path" }
        func escaped(_ text: String) -> String { text.utf8.map { String(format: "%%%02x", $0) }.joined() }
        let query = call.request.query.map { escaped($0.name) + "=" + escaped($0.value) }.joined(separator: "&")
        let path = call.path.map(escaped).joined(separator: "/")
        let target = "/" + path + (query.isEmpty ? "" : "?" + query)
        let again = Call(method: "GET", target: target)
        guard again?.path == call.path, again?.request.query.map(\.name) == call.request.query.map(\.name),
            again?.request.query.map(\.value) == call.request.query.map(\.value)
        else { return "escaped, it is another target" }
        return nil
    }
}
