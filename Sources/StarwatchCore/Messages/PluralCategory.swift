/// CLDR's six words for what a number does to the words around it.
public enum PluralCategory: String, Sendable, CaseIterable {
    case zero, one, two, few, many, other
}
