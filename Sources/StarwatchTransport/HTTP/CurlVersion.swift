import CCurl

/// The version of libcurl in use.
package enum CurlVersion {
    /// Such as `7.88.1`.
    package static var current: String? {
        // The oldest form of the answer has it.
        guard let info = curl_version_info(CURLVERSION_FIRST), let version = info.pointee.version else { return nil }
        return String(cString: version)
    }
}
