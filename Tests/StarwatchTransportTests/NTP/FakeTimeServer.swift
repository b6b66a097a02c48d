import Foundation
import Glibc

/// A UDP server on a free port of 127.0.0.1 that answers NTP requests with a test's datagrams.
final class FakeTimeServer: Sendable {
    /// One datagram of a response.
    struct Reply: Sendable {
        var bytes: [UInt8]
        /// Whether another port sends the datagram, like an attacker.
        var isFromElsewhere = false
    }

    let port: Int
    /// Received requests, in order.
    let questions: AsyncStream<[UInt8]>
    private let descriptor: Int32

    /// - Parameter answer: Creates the datagrams of a response, on the server's thread.
    init(_ answer: @escaping @Sendable (_ question: [UInt8]) -> [Reply]) throws {
        let (descriptor, port) = try Self.bound()
        let (elsewhere, _) = try Self.bound()
        let (questions, continuation) = AsyncStream<[UInt8]>.makeStream()
        self.descriptor = descriptor
        self.port = port
        self.questions = questions
        Thread.detachNewThread {
            var buffer = [UInt8](repeating: 0, count: 2048)
            while true {
                var sender = sockaddr_in()
                var length = socklen_t(MemoryLayout<sockaddr_in>.size)
                let count = withUnsafeMutablePointer(to: &sender) {
                    $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                        recvfrom(descriptor, &buffer, buffer.count, 0, $0, &length)
                    }
                }
                // Only this thread closes the sockets, as in ``LoopbackServer``.
                guard count > 0 else { break }
                let question = Array(buffer.prefix(count))
                for reply in answer(question) {
                    let socket = reply.isFromElsewhere ? elsewhere : descriptor
                    withUnsafePointer(to: &sender) {
                        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                            _ = sendto(socket, reply.bytes, reply.bytes.count, 0, $0, length)
                        }
                    }
                }
                continuation.yield(question)
            }
            close(descriptor)
            close(elsewhere)
            continuation.finish()
        }
    }

    deinit { shutdown(descriptor, Int32(SHUT_RDWR)) }

    private static func bound() throws -> (Int32, Int) {
        let descriptor = socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, length) == 0 && getsockname(descriptor, $0, &length) == 0
            }
        }
        guard isBound else { throw POSIXError(.EADDRNOTAVAIL) }
        return (descriptor, Int(UInt16(bigEndian: address.sin_port)))
    }
}

/// The bytes of an NTP response, created without the client's own types.
struct NTPAnswer: Sendable {
    var leap: UInt8 = 0
    var version: UInt8 = 4
    var mode: UInt8 = 4
    var stratum: UInt8 = 2
    /// 16 bits of seconds and 16 bits of a fraction.
    var rootDelay: UInt32 = 0
    var rootDispersion: UInt32 = 0
    var reference: [UInt8] = [127, 127, 1, 1]
    /// The originate time; `nil` for the last eight bytes of the request.
    var originate: UInt64?
    var receive: UInt64
    var transmit: UInt64

    /// - Parameter unixNanoseconds: The time of receipt and of sending.
    init(at unixNanoseconds: Int64) {
        receive = Self.bits(unixNanoseconds)
        transmit = receive
    }

    /// A time in NTP's format, of either era.
    static func bits(_ unixNanoseconds: Int64) -> UInt64 {
        let (seconds, rest) = unixNanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
        return UInt64(truncatingIfNeeded: seconds + 2_208_988_800) << 32 | (UInt64(rest) << 32 + 999_999_999)
            / 1_000_000_000
    }

    func bytes(to question: [UInt8]) -> [UInt8] {
        func big(_ number: some FixedWidthInteger) -> [UInt8] { withUnsafeBytes(of: number.bigEndian, Array.init) }
        let head: [UInt8] = [leap << 6 | version << 3 | mode, stratum, 6, 0xe9] + big(rootDelay) + big(rootDispersion)
        let times = reference + big(receive) + (originate.map { big($0) } ?? Array(question.suffix(8)))
        return head + times + big(receive) + big(transmit)
    }
}
