import Foundation

/// Folder for output: `TMPDIR`, which Scripts/fuzz removes.
let scratchRoot = ProcessInfo.processInfo.environment["TMPDIR"] ?? "/tmp"

/// Writes the input to a file, replacing the last one.
func scratchFile(_ bytes: [UInt8]) -> String {
    let path = "\(scratchRoot)/input-\(ProcessInfo.processInfo.processIdentifier)"
    write(bytes, to: path)
    return path
}

func write(_ bytes: [UInt8], to path: String) {
    guard let file = fopen(path, "wb") else { fatalError("\(path) cannot be written") }
    fwrite(bytes, 1, bytes.count, file)
    fclose(file)
}
