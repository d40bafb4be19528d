import ArgumentParser
import CacheBenchKit
import Foundation
import PanTraces
import TraceImport

/// `cachebench import`: makes traces of logs and tracks.
struct ImportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Make traces of access logs, HAR, GPX, KML tours and tables of positions.",
        discussion: """
            Recognises each file by its content: access logs of nginx, Apache (common, combined, also with fields \
            before or after), Caddy, CloudFront, IIS and servers in Python with tiles z/x/y, HAR files of a browser, \
            GPX tracks with times, KML tours and tracks, QuPath's tracking TSV, CSV with columns such as time,x,y,scale. A client's requests become positions by the \
            smallest moves that explain them. Each set of tiles that a client views is a session of its own.

            What is guessed stands in the header of each trace. Addresses and names of clients are not written. \
            Docs/Tuning.md says how far such traces can be trusted. Compressed logs come by a pipe: zcat and import -.

            Examples:
              cachebench import access.log.1 access.log --output traces/
              cachebench import - --output traces/ <access.log
              cachebench import walk.gpx tour.kml slide.tsv --output traces/
              cachebench tune traces/
            """
    )

    @Argument(help: "Files, or - for standard input. A log may go on in the next one.", completion: .file())
    var files: [String]

    @Option(
        help: ArgumentHelp("Folder of the traces, new or without .csv files.", valueName: "folder"),
        completion: .directory
    )
    var output: String

    @Option(
        "A client's pause that ends a session, 1s to 24h.",
        OptionValue("a time with its unit from 1s to 24h (90s, 10min)") { text in
            QuantityText.duration(text).flatMap { 1_000_000_000...86_400_000_000_000 ~= $0 ? $0 : nil }
        },
        default: "10min"
    )
    var pause: Int64?

    @Option(
        "Size of the views in screen pixels, where the files do not say it.",
        .viewport,
        default: "guessed",
        as: "WxH"
    )
    var viewport: PanTraceHeader.Size?

    func run() throws {
        try Failure.reported {
            let newFolders = missingFolders()
            let names = try prepareFolder()
            var number = 0
            // Only empty ones go.
            defer { if number == 0 { for folder in newFolders { rmdir(folder) } } }
            Interruption.watch()
            let progress = Progress()
            defer { progress.end() }
            var importer = Importer(pause: pause ?? 600_000_000_000, viewport: viewport) { session in
                number += 1
                let digits = String(number)
                let file = names + String(repeating: "0", count: max(0, 4 - digits.count)) + digits + ".csv"
                var position = 0
                try ReportWriter(path: file, sparing: files).write(pieces: { session.text(from: &position) })
            }
            var failures: [String] = []
            for file in files where !Interruption.hasCome {
                do {
                    _ = try importer.read(path: file) { part in
                        progress.show("\(file.printable), \(part.map { "\(Int($0 * 100)) %" } ?? "reading")")
                        return !Interruption.hasCome
                    }
                } catch let failure as Failure {
                    throw failure
                } catch {
                    failures.append("\(error)".printable)
                }
            }
            try importer.finish()
            progress.end()
            for failure in failures { writeToStandardError("cachebench: \(failure)\n") }
            // Each file has said why.
            if failures.count == files.count, importer.counts == ImportCounts() { throw ExitCode(2) }
            let folder = output.printable.quotedForShells
            try ReportWriter(path: nil).write(ImportSummary.text(importer.counts, folder: folder))
            if Interruption.hasCome { throw Interruption.end("the traces so far were written") }
            if importer.counts.sessions == 0 { throw Failure("no session was found: nothing to replay") }
        }
    }

    /// Folders that must be made first, the innermost first.
    private func missingFolders() -> [String] {
        var missing: [String] = []
        var folder = URL(fileURLWithPath: output).standardized
        while folder.path != "/", !FileManager.default.fileExists(atPath: folder.path) {
            missing.append(folder.path)
            folder.deleteLastPathComponent()
        }
        return missing
    }

    /// Makes the folder; returns the beginning of the traces' paths.
    private func prepareFolder() throws(Failure) -> String {
        do {
            try FileManager.default.createDirectory(atPath: output, withIntermediateDirectories: true)
        } catch {
            throw Failure("--output \(output.printable): a folder that can be made and written is expected")
        }
        let names = (try? FileManager.default.contentsOfDirectory(atPath: output)) ?? []
        // Traces of another import would be replayed with these.
        if let name = names.first(where: { $0.hasSuffix(".csv") }) {
            throw Failure(
                "--output \(output.printable): a folder without traces is expected; \(name.printable) is in it"
            )
        }
        let path = files.first.map { URL(fileURLWithPath: $0).deletingPathExtension().lastPathComponent } ?? ""
        // A trace with a dot first would be hidden.
        let first = path.drop { $0 == "." }
        return "\(output.hasSuffix("/") ? output : output + "/")\(first.isEmpty || first == "-" ? "import" : first)-"
    }
}
