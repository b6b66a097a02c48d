/// A label of a family with its possible values.
package struct CatalogueLabel: Sendable, Hashable {
    package let name: String
    package let values: [String]
}
