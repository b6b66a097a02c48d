/// The series of one set of label values. It stores the bytes of its lines up to the value.
protocol MetricSeries: AnyObject, Sendable {
    /// Number of samples on the page.
    var sampleCount: Int { get }

    /// Appends whole lines; nothing if there is no value.
    func write(to page: inout [UInt8], format: ExpositionFormat)
}

final class CounterSeries: MetricSeries {
    private let prefix: [UInt8]
    private let counter: Counter

    init(name: String, labels: [(name: String, value: String)], counter: Counter) {
        prefix = [UInt8](sample: name, labels: labels)
        self.counter = counter
    }

    var sampleCount: Int { 1 }

    func write(to page: inout [UInt8], format: ExpositionFormat) {
        guard format == .openMetrics, let entry = counter.exemplars?.all[0] else {
            return page.append(line: prefix, integer: counter.value)
        }
        page += prefix
        page.append(integer: counter.value)
        page.append(exemplar: entry)
        page.append(UInt8(ascii: "\n"))
    }
}

/// A value that is computed for each page.
final class ComputedSeries: MetricSeries {
    private let prefix: [UInt8]
    private let compute: @Sendable () -> Double?

    init(name: String, labels: [(name: String, value: String)] = [], compute: @escaping @Sendable () -> Double?) {
        prefix = [UInt8](sample: name, labels: labels)
        self.compute = compute
    }

    var sampleCount: Int { 1 }

    func write(to page: inout [UInt8], format: ExpositionFormat) {
        if let value = compute() { page.append(line: prefix, value: value) }
    }
}

final class HistogramSeries: MetricSeries {
    /// Line starts by bucket; `nil` for a hidden bucket, whose observations the next shown bucket includes.
    private let bucketPrefixes: [[UInt8]?]
    private let sumPrefix: [UInt8]
    private let countPrefix: [UInt8]
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
        bucketPrefixes = buckets.map { $0.map { [UInt8](sample: bucketName, labels: labels + [("le", $0)]) } }
        sumPrefix = [UInt8](sample: name + "_sum", labels: labels)
        countPrefix = [UInt8](sample: name + "_count", labels: labels)
        self.histogram = histogram
        self.others = others
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
                page += prefix
                page.append(integer: cumulative)
                page.append(exemplar: entry)
                page.append(UInt8(ascii: "\n"))
            }
            page.append(line: sumPrefix, value: sum)
            page.append(line: countPrefix, integer: cumulative)
        }
    }
}
