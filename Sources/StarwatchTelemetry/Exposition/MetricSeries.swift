/// What stands behind one set of label values: it knows its bytes up to the value.
protocol MetricSeries: Sendable {
    /// How many samples it is on the page.
    var sampleCount: Int { get }

    /// Appends whole lines, or nothing if there is no value to be had.
    func write(to page: inout [UInt8], format: ExpositionFormat)
}

struct CounterSeries: MetricSeries {
    private let prefix: [UInt8]
    private let counter: Counter

    init(name: String, labels: [(name: String, value: String)], counter: Counter) {
        var bytes: [UInt8] = []
        bytes.append(sample: name, labels: labels)
        prefix = bytes
        self.counter = counter
    }

    var sampleCount: Int { 1 }

    func write(to page: inout [UInt8], format: ExpositionFormat) {
        page.append(contentsOf: prefix)
        guard format == .openMetrics, let entry = counter.exemplars?.all[0] else {
            return page.append(lastInteger: counter.value)
        }
        page.append(integer: counter.value)
        page.append(exemplar: entry)
        page.append(UInt8(ascii: "\n"))
    }
}

struct GaugeSeries: MetricSeries {
    private let prefix: [UInt8]
    private let gauge: Gauge

    init(name: String, labels: [(name: String, value: String)], gauge: Gauge) {
        var bytes: [UInt8] = []
        bytes.append(sample: name, labels: labels)
        prefix = bytes
        self.gauge = gauge
    }

    var sampleCount: Int { 1 }

    func write(to page: inout [UInt8], format: ExpositionFormat) {
        page.append(contentsOf: prefix)
        page.append(value: gauge.value)
        page.append(UInt8(ascii: "\n"))
    }
}

/// A value that is computed when it is asked for.
struct ComputedSeries: MetricSeries {
    private let prefix: [UInt8]
    private let compute: @Sendable () -> Double?

    init(name: String, labels: [(name: String, value: String)] = [], compute: @escaping @Sendable () -> Double?) {
        var bytes: [UInt8] = []
        bytes.append(sample: name, labels: labels)
        prefix = bytes
        self.compute = compute
    }

    var sampleCount: Int { 1 }

    func write(to page: inout [UInt8], format: ExpositionFormat) {
        guard let value = compute() else { return }
        page.append(contentsOf: prefix)
        page.append(value: value)
        page.append(UInt8(ascii: "\n"))
    }
}

struct HistogramSeries: MetricSeries {
    /// `nil` for a bucket of the histogram that is not shown: the next one that is has its observations too.
    private let bucketPrefixes: [[UInt8]?]
    private let sumPrefix: [UInt8]
    private let countPrefix: [UInt8]
    private let histogram: Histogram

    /// - Parameter bounds: Those to show, some of the histogram's; `nil` for all.
    init(name: String, labels: [(name: String, value: String)], histogram: Histogram, bounds: [Double]? = nil) {
        let shown = Set((bounds ?? histogram.bounds) + [.infinity])
        bucketPrefixes = (histogram.bounds + [.infinity]).map { bound in
            guard shown.contains(bound) else { return nil }
            var bytes: [UInt8] = []
            bytes.append(sample: name + "_bucket", labels: labels + [("le", CanonicalFloat.text(bound))])
            return bytes
        }
        var bytes: [UInt8] = []
        bytes.append(sample: name + "_sum", labels: labels)
        sumPrefix = bytes
        bytes.removeAll()
        bytes.append(sample: name + "_count", labels: labels)
        countPrefix = bytes
        self.histogram = histogram
    }

    var sampleCount: Int { bucketPrefixes.count { $0 != nil } + 2 }

    func write(to page: inout [UInt8], format: ExpositionFormat) {
        let exemplars = format == .openMetrics ? histogram.exemplars?.all : nil
        // The sum is read first: a scrape may see an observation in the buckets only, never in the sum only.
        let sum = histogram.sum
        var cumulative: UInt64 = 0
        for (index, prefix) in bucketPrefixes.enumerated() {
            cumulative += histogram.count(at: index)
            guard let prefix else { continue }
            page.append(contentsOf: prefix)
            guard let entry = exemplars?[index] else {
                page.append(lastInteger: cumulative)
                continue
            }
            page.append(integer: cumulative)
            page.append(exemplar: entry)
            page.append(UInt8(ascii: "\n"))
        }
        page.append(contentsOf: sumPrefix)
        page.append(value: sum)
        page.append(UInt8(ascii: "\n"))
        page.append(contentsOf: countPrefix)
        page.append(lastInteger: cumulative)
    }
}
