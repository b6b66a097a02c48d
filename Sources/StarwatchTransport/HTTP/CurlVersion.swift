import CCurl

/// The version of libcurl in use.
package enum CurlVersion {
    /// Such as `7.88.1`.
    package static var current: String? { libraries.first?.version }

    /// libcurl and the libraries that it uses, such as OpenSSL, zlib and nghttp2, with their versions.
    package static var libraries: [(name: String, version: String)] {
        guard let text = curl_version() else { return [] }
        return parse(String(cString: text))
    }

    /// Reads a text such as `libcurl/7.88.1 OpenSSL/3.0.19 libpsl/0.21.2 (+libidn2/2.3.3)`.
    static func parse(_ text: String) -> [(name: String, version: String)] {
        text.split(separator: " ").compactMap { word in
            let parts = word.split(separator: "/", maxSplits: 1)
            guard parts.count == 2, !word.hasPrefix("(") else { return nil }
            return (String(parts[0]), String(parts[1]))
        }
    }
}
