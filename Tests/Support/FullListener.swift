#if os(Linux)
    import Foundation

    /// A port of loopback whose queue of connections is full: further ones are neither accepted nor refused.
    package final class FullListener {
        package let port: Int
        private let sockets: [Int32]

        package init() throws {
            let type = Int32(SOCK_STREAM.rawValue)
            let listener = socket(AF_INET, type, 0)
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_addr.s_addr = in_addr_t(0x7f00_0001).bigEndian
            var size = socklen_t(MemoryLayout<sockaddr_in>.size)
            // Without backlog one connection waits, or a few.
            let clients = withUnsafeMutablePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { address -> [Int32]? in
                    guard bind(listener, address, size) == 0, getsockname(listener, address, &size) == 0,
                        listen(listener, 0) == 0
                    else { return nil }
                    return (0..<8).map { _ in
                        let client = socket(AF_INET, type | Int32(SOCK_NONBLOCK.rawValue), 0)
                        _ = connect(client, address, size)
                        return client
                    }
                }
            }
            guard let clients else { throw POSIXError(.EADDRINUSE) }
            port = Int(in_port_t(bigEndian: address.sin_port))
            sockets = clients + [listener]
        }

        deinit { for socket in sockets { close(socket) } }
    }
#endif
