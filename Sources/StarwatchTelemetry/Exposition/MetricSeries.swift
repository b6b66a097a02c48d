/// The series of one set of label values. It stores the bytes of its lines up to the value.
protocol MetricSeries: AnyObject, Sendable {
    /// Number of samples on the page.
    var sampleCount: Int { get }

    /// Appends whole lines; nothing if there is no value.
    func write(to page: inout [UInt8], format: ExpositionFormat)
}

final class CounterSeries: MetricSeries {
    private let prefix: LineStart
    private let counter: Counter

    init(name: String, labels: [(name: String, value: String)], counter: Counter) {
        prefix = LineStart(name, labels)
        self.counter = counter
    }

    deinit { prefix.free() }

    var sampleCount: Int { 1 }

    /// The line without an exemplar, which lives as long as the series.
    var line: CounterLine { CounterLine(start: prefix, counter: .passUnretained(counter)) }

    func write(to page: inout [UInt8], format: ExpositionFormat) {
        guard format == .openMetrics, let entry = counter.exemplars?.all[0] else {
            return page.append(line: prefix, integer: counter.value)
        }
        page.append(start: prefix)
        page.append(integer: counter.value)
        page.append(exemplar: entry)
        page.append(UInt8(ascii: "\n"))
    }
}

/// A value that is computed for each page.
final class ComputedSeries: MetricSeries {
    private let prefix: LineStart
    private let compute: @Sendable () -> Double?

    init(name: String, labels: [(name: String, value: String)] = [], compute: @escaping @Sendable () -> Double?) {
        prefix = LineStart(name, labels)
        self.compute = compute
    }

    deinit { prefix.free() }

    var sampleCount: Int { 1 }

    func write(to page: inout [UInt8], format: ExpositionFormat) {
        guard let value = compute() else { return }
        page.append(start: prefix)
        page.append(value: value)
        page.append(UInt8(ascii: "\n"))
    }
}

final class HistogramSeries: MetricSeries {
    /// Line starts by bucket; `nil` for a hidden bucket, whose observations the next shown bucket includes.
    private let bucketPrefixes: [LineStart?]
    private let sumPrefix: LineStart
    private let countPrefix: LineStart
    private let histogram: Histogram
    private let others: [Histogram]

    /// The `le` labels of the buckets, shared by all series of a family; `nil` for a hidden bucket.
    ///
    /// - Parameter shown: The bounds to show, a subset of `bounds`; `nil` for all.
    static func labels(_ bounds: [Double], shown: [Double]? = nil) -> [String?] {
        let shown = shown.map(Set.init)
        return bounds.map { shown?.contains($0) == false ? nil : $0.canonicalText } + [Double.infinity.canonicalText]
    }

    /// - Parameters:
    ///   - others: Histograms with the same bounds whose observations are added.
    ///   - buckets: Their ``labels(_:shown:)``.
    init(
        name: String,
        labels: [(name: String, value: String)],
        histogram: Histogram,
        others: [Histogram] = [],
        buckets: [String?]
    ) {
        let bucketName = name + "_bucket"
        bucketPrefixes = buckets.map { text in text.map { LineStart(bucketName, labels + [("le", $0)]) } }
        sumPrefix = LineStart(name + "_sum", labels)
        countPrefix = LineStart(name + "_count", labels)
        self.histogram = histogram
        self.others = others
    }

    deinit {
        for prefix in bucketPrefixes { prefix?.free() }
        sumPrefix.free()
        countPrefix.free()
    }

    var sampleCount: Int { bucketPrefixes.count { $0 != nil } + 2 }

    func write(to page: inout [UInt8], format: ExpositionFormat) {
        var exemplars = format == .openMetrics ? histogram.exemplars?.all : nil
        for other in others where exemplars != nil {
            guard let more = other.exemplars?.all else { continue }
            exemplars = zip(exemplars ?? [], more).map { $0 ?? $1 }
        }
        write(to: &page, exemplars: exemplars)
    }

    private func write(to page: inout [UInt8], exemplars: [ExemplarSlots.Entry?]?) {
        histogram.read { counts, sum in
            var (counts, sum) = (counts, sum)
            for other in others {
                other.read { more, rest in
                    for index in counts.indices { counts[index] += more[index] }
                    sum += rest
                }
            }
            var cumulative: UInt64 = 0
            for (index, prefix) in bucketPrefixes.enumerated() {
                cumulative += counts[index]
                guard let prefix else { continue }
                guard let entry = exemplars?[index] else {
                    page.append(line: prefix, integer: cumulative)
                    continue
                }
                page.append(start: prefix)
                page.append(integer: cumulative)
                page.append(exemplar: entry)
                page.append(UInt8(ascii: "\n"))
            }
            page.append(start: sumPrefix)
            page.append(value: sum)
            page.append(UInt8(ascii: "\n"))
            page.append(line: countPrefix, integer: cumulative)
        }
    }
}
