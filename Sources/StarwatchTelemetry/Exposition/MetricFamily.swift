import Synchronization

/// A family on the page: its metadata and its series.
final class MetricFamily: Sendable {
    let descriptor: MetricDescriptor
    let labels: [CatalogueLabel]
    let bounds: [Double]
    private let textHeader: [UInt8]
    private let openMetricsHeader: [UInt8]
    private let series: Mutex<[any MetricSeries]>
    /// Series that appear on the page together, when one of them has counted.
    private let hidden: [[HiddenSeries]]
    /// Makes the series that exist at the moment; `nil` if the family has none that come and go.
    private let table: MetricTable?

    init(
        descriptor: MetricDescriptor,
        labels: [CatalogueLabel] = [],
        bounds: [Double] = [],
        series: [any MetricSeries] = [],
        hidden: [[HiddenSeries]] = [],
        table: MetricTable? = nil
    ) {
        (self.descriptor, self.labels, self.bounds) = (descriptor, labels, bounds)
        self.series = Mutex(series)
        self.hidden = hidden
        self.table = table
        textHeader = Self.textHeader(of: descriptor)
        openMetricsHeader = Self.openMetricsHeader(of: descriptor)
    }

    /// Number of series that are on the page from the start.
    var seriesCount: Int { Self.samples(of: series.withLock { $0 }) }

    /// Largest number of series with this configuration, but for hidden ones.
    var largestCount: Int { table?.largest ?? seriesCount }

    /// Number of series that have appeared since, and still exist.
    var appearedCount: Int {
        hidden.filter(Self.hasCounted).reduce(table?.rows().count ?? 0) { $0 + Self.samples(of: $1.map(\.series)) }
    }

    private static func hasCounted(_ group: [HiddenSeries]) -> Bool { group.contains { $0.handle.hasCounted } }

    private static func samples(of series: [any MetricSeries]) -> Int { series.reduce(0) { $0 + $1.sampleCount } }

    func add(_ added: any MetricSeries) { series.withLock { $0.append(added) } }

    /// Inserts a family into a list sorted by name.
    static func insert(_ family: MetricFamily, into families: inout [MetricFamily]) {
        let index = families.firstIndex { $0.descriptor.name > family.descriptor.name }
        families.insert(family, at: index ?? families.endIndex)
    }

    /// Whether a `name[]` filter selects the family, by its own name or a sample's.
    func matches(anyOf names: Set<String>) -> Bool {
        names.contains(descriptor.name) || names.contains(descriptor.openMetricsName)
            || descriptor.sampleNames.contains(where: names.contains)
    }

    /// Appends the family; nothing if none of its series has a value.
    func write(to page: inout [UInt8], format: ExpositionFormat) {
        let start = page.count
        page.append(contentsOf: format == .text ? textHeader : openMetricsHeader)
        let header = page.count
        for one in series.withLock({ $0 }) { one.write(to: &page, format: format) }
        for group in hidden where Self.hasCounted(group) {
            for one in group { one.series.write(to: &page, format: format) }
        }
        for row in table?.rows() ?? [] {
            page.append(line: [UInt8](sample: descriptor.name, labels: row.labels), value: row.value)
        }
        if page.count == header { page.removeSubrange(start...) }
    }

    private static func textHeader(of descriptor: MetricDescriptor) -> [UInt8] {
        let type = descriptor.kind == .info ? "gauge" : descriptor.kind.rawValue
        var bytes: [UInt8] = []
        bytes.append(text: "# HELP \(descriptor.name) ")
        bytes.append(escaped: descriptor.help, quotes: false)
        bytes.append(text: "\n# TYPE \(descriptor.name) \(type)\n")
        return bytes
    }

    private static func openMetricsHeader(of descriptor: MetricDescriptor) -> [UInt8] {
        let name = descriptor.openMetricsName
        var bytes: [UInt8] = []
        bytes.append(text: "# TYPE \(name) \(descriptor.kind.rawValue)\n")
        if descriptor.unit.isSuffix(of: name) { bytes.append(text: "# UNIT \(name) \(descriptor.unit.rawValue)\n") }
        bytes.append(text: "# HELP \(name) ")
        bytes.append(escaped: descriptor.help, quotes: true)
        bytes.append(UInt8(ascii: "\n"))
        return bytes
    }
}

/// Series that come and go with what they tell of, such as a problem.
package struct MetricTable: Sendable {
    /// A series, with the labels that it has.
    package typealias Row = (labels: [(name: String, value: String)], value: Double)

    /// The largest number of series at one time.
    let largest: Int
    let rows: @Sendable () -> [Row]
}

/// A series that is not on the page from the start.
typealias HiddenSeries = (series: any MetricSeries, handle: any MetricHandle)

/// An entry of `starwatch metrics catalogue`: one family.
package struct CatalogueEntry: Sendable, Hashable {
    package let descriptor: MetricDescriptor
    package let labels: [CatalogueLabel]
    /// The upper bounds of a histogram's buckets, without +Inf; empty for other kinds.
    package let bounds: [Double]
    /// Number of series on the page, including buckets; the largest one for series that come and go.
    package let seriesCount: Int

    init(_ family: MetricFamily) {
        descriptor = family.descriptor
        labels = family.labels
        bounds = family.bounds
        seriesCount = family.largestCount
    }
}
