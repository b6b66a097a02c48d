/// A value of a JSON text that a reader can ask for. The nodes of a text are in the order of the text.
struct JSONNode {
    enum Kind: UInt8 {
        case null, yes, no, number, text, array, object
        /// A text of ASCII without escapes and control characters, as most are.
        case plainText
        /// A text with escapes or control characters, which are checked when it is read.
        case escapedText
        /// An object with a name that is no text. Readers treat it as a value of another type.
        case unreadableObject
    }

    var kind: Kind
    /// The number of the member's name among ``JSONKeys``; of an element, ``JSONKeys/other``.
    var key: UInt8
    /// The index of the array or object that contains this node; its own for the outermost.
    var parent: UInt32
    /// The range of a text or number. The `end` of an array is the number of its elements, and 0 if they were skipped.
    var start: UInt32
    var end: UInt32
    /// The index of the node after this one and all that it contains.
    var next: UInt32
}
