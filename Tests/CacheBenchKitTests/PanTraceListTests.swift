import CacheBenchKit
import Foundation
import PanTraces
import Testing

@Suite struct TraceListTests {
    /// Creates a folder with some empty files, and removes it.
    private func withFolder(_ files: [String], _ body: (String) throws -> Void) throws {
        let folder = FileManager.default.temporaryDirectory.path + "/traces-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        for file in files {
            let path = folder + "/" + file
            let parent = String(path[..<path.lastIndex(of: "/")!])
            try FileManager.default.createDirectory(atPath: parent, withIntermediateDirectories: true)
            try Data().write(to: URL(fileURLWithPath: path))
        }
        try body(folder)
    }

    @Test func directoriesAreAllTheirTracesInOrder() throws {
        try withFolder(["b.csv", "a.csv", "notes.txt", ".hidden.csv", "drag/2.csv", "drag/1.csv", "c/d/e.csv"]) {
            (folder: String) throws in
            let expected = ["a.csv", "b.csv", "c/d/e.csv", "drag/1.csv", "drag/2.csv"].map { folder + "/" + $0 }
            #expect(try PanTraceList.paths([folder]) == expected)
            #expect(try PanTraceList.paths([folder + "/"]) == expected)
        }
    }

    @Test func filesStayAsTheyAre() throws {
        // Files are not opened before they are read.
        #expect(try PanTraceList.paths(["nowhere.txt", "-"]) == ["nowhere.txt", "-"])
        #expect(try PanTraceList.paths([]) == [])
    }

    @Test func otherTablesInDirectoriesAreLeftOut() throws {
        try withFolder(["a.csv", "people.csv", "empty.csv"]) { folder in
            try "# pan-trace: 1\ntime_s,center_x,center_y,scale\n".write(
                toFile: folder + "/a.csv",
                atomically: true,
                encoding: .utf8
            )
            try "name,age\nBob,3\n".write(toFile: folder + "/people.csv", atomically: true, encoding: .utf8)
            var others: [String] = []
            let paths = try PanTraceList.paths([folder], other: { others.append($0) })
            #expect(paths == [folder + "/a.csv", folder + "/empty.csv"] && others == [folder + "/people.csv"])
            // By its name it is asked for, and its reader says what is wrong.
            #expect(try PanTraceList.paths([folder + "/people.csv"]) == [folder + "/people.csv"])
            for name in ["a", "empty"] { try FileManager.default.removeItem(atPath: "\(folder)/\(name).csv") }
            let error = #expect(throws: PanTraceError.self) { try PanTraceList.paths([folder]) }
            #expect(
                error?.description == "\(folder): expected a directory with pan traces in it, found other .csv files"
            )
        }
    }

    @Test func directoriesWithoutTracesAreNamed() throws {
        try withFolder(["notes.txt"]) { folder in
            let error = #expect(throws: PanTraceError.self) { try PanTraceList.paths([folder]) }
            #expect(error?.description == "\(folder): expected a directory with .csv files in it, found none")
        }
    }

    @Test func standardInputIsReadOnce() {
        let error = #expect(throws: PanTraceError.self) { try PanTraceList.paths(["-", "-"]) }
        #expect(error?.file == "standard input")
    }

    #if os(Linux)
        /// Other systems refuse such names.
        @Test func namesThatAreNotUTF8AreLeftOut() throws {
            try withFolder(["a.csv", "c\u{FFFD}.csv"]) { folder in
                let bytes = Array(folder.utf8CString.dropLast()) + Array("/b".utf8CString.dropLast()) + [CChar(-1)]
                let file = open(bytes + Array(".csv".utf8CString), O_CREAT | O_WRONLY, 0o600)
                try #require(file >= 0)
                close(file)
                var unnamed: [String] = []
                #expect(
                    try PanTraceList.paths([folder]) { unnamed.append($0) }
                        == [folder + "/a.csv", folder + "/c\u{FFFD}.csv"]
                )
                #expect(unnamed == [folder + "/b\u{FFFD}.csv"])
            }
        }
    #endif

    @Test func linksToWhereTheyLieDoNotLoop() throws {
        try withFolder(["a.csv"]) { folder in
            try FileManager.default.createSymbolicLink(atPath: folder + "/again", withDestinationPath: folder)
            #expect(try PanTraceList.paths([folder]) == [folder + "/a.csv"])
        }
    }
}
