import StarwatchStore

/// The system's text for an `errno`, for modules that cannot import the store.
package enum ErrnoText {
    package static func of(_ code: Int32) -> String { SystemText.of(code) }
}
