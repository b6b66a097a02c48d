/// An entry of `starwatch metrics catalogue`: one family.
package struct CatalogueEntry: Sendable, Hashable {
    package let descriptor: MetricDescriptor
    package let labels: [CatalogueLabel]
    /// The upper bounds of a histogram's buckets, without +Inf; empty for other kinds.
    package let bounds: [Double]
    /// Number of series on the page, including buckets.
    package let seriesCount: Int

    init(_ family: MetricFamily) {
        descriptor = family.descriptor
        labels = family.labels
        bounds = family.bounds
        seriesCount = family.seriesCount
    }
}
