/// A page for any browser: no network, pictures inline, complete without its script.
struct Page {
    let title: String
    /// Subject of the page, on a line below the title.
    let lead: String
    private var body = ""
    /// Parts of the page, for the links at its top.
    private var parts: [(name: String, id: String)] = []
    private var isInPart = false

    init(title: String, lead: String) {
        self.title = title
        self.lead = lead
    }

    mutating func figures(_ figures: [(value: String, name: String)]) {
        body += "<dl class=\"figures\">"
        for figure in figures { body += "<div><dt>\(escaped(figure.name))</dt><dd>\(escaped(figure.value))</dd></div>" }
        body += "</dl>\n"
    }

    mutating func picture(_ heading: String, sentence: String, draw: (ChartSize) -> SVG) {
        body += "<figure>" + title(heading)
        for size in ChartSize.allCases {
            body += draw(size).element(label: heading + ". " + sentence, style: size.style)
        }
        body += "<figcaption>\(escaped(sentence))</figcaption></figure>\n"
    }

    /// Adds a heading; links lead to its id.
    mutating func heading(_ text: String, id: String) {
        parts.append((text, id))
        isInPart = true
        body += "<h1 class=\"part\" id=\"\(id)\">\(escaped(text))</h1>\n"
    }

    /// Adds a heading of a picture or a table. Below a part it has no link: there would be too many.
    private mutating func title(_ text: String) -> String {
        guard !isInPart else { return "<h2>\(escaped(text))</h2>" }
        parts.append((text, "section-\(parts.count + 1)"))
        return "<h2 id=\"section-\(parts.count)\">\(escaped(text))</h2>"
    }

    mutating func warning(_ text: String) { body += "<p class=\"warning\">\(escaped(text))</p>\n" }

    mutating func sentence(_ text: String) { body += "<p>\(escaped(text))</p>\n" }

    /// Adds a line for copying.
    mutating func command(_ text: String) { body += "<pre class=\"command\">\(escaped(text))</pre>\n" }

    struct Cell: ExpressibleByStringInterpolation {
        var text: String
        var link: String?
        var id: String?

        init(_ text: String, link: String? = nil, id: String? = nil) {
            self.text = text
            self.link = link
            self.id = id
        }

        init(stringLiteral value: String) { self.init(value) }

        var element: String {
            let shown = link.map { "<a href=\"#\($0)\">\(escaped(text))</a>" } ?? escaped(text)
            return id.map { "<span id=\"\($0)\">\(shown)</span>" } ?? shown
        }
    }

    /// Adds a table; all columns but the first few are numbers.
    ///
    /// - Parameters:
    ///   - foot: Last row, which stays last when the table is sorted.
    ///   - marked: Highlighted row.
    ///   - texts: Other columns that are not numbers.
    ///   - extra: Columns hidden on telephones.
    mutating func table(
        _ heading: String,
        columns: [String],
        cells: [[Cell]],
        foot: [Cell]? = nil,
        marked: Int? = nil,
        names: Int = 1,
        texts: Set<String> = [],
        extra: Set<String> = []
    ) {
        func open(_ tag: String, _ index: Int) -> String {
            let classes = [
                index < names || texts.contains(columns[index]) ? "name" : nil,
                extra.contains(columns[index]) ? "extra" : nil,
            ].compactMap { $0 }
            return "<\(tag)" + (classes.isEmpty ? ">" : " class=\"\(classes.joined(separator: " "))\">")
        }
        func row(_ cells: [Cell], isMarked: Bool = false) -> String {
            (isMarked ? "<tr class=\"marked\">" : "<tr>")
                + cells.prefix(columns.count).enumerated().map { open("td", $0.offset) + $0.element.element + "</td>" }
                .joined() + "</tr>\n"
        }
        body += title(heading) + "<div class=\"scroll\"><table><thead><tr>"
        for (index, column) in columns.enumerated() { body += open("th", index) + "\(escaped(column))</th>" }
        body += "</tr></thead><tbody>"
        for (index, cells) in cells.enumerated() { body += row(cells, isMarked: index == marked) }
        body += "</tbody>" + (foot.map { "<tfoot>\(row($0))</tfoot>" } ?? "") + "</table></div>\n"
    }

    /// Text of the page. `data` is the report as JSON that is safe within a page.
    func text(data: String, foot: String) -> String {
        let links = parts.map { "<a href=\"#\($0.id)\">\(escaped($0.name))</a>" }.joined(separator: "\n")
        let policy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; script-src '\(PageScript.hash)'"
        return """
            <!DOCTYPE html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <meta http-equiv="Content-Security-Policy" content="\(policy)">
            <meta name="color-scheme" content="light dark">
            <link rel="icon" href="data:,">
            <title>\(escaped(title))</title>
            <style>\(PageStyle.sheet)</style>
            </head>
            <body>
            <main>
            <h1>\(escaped(title))</h1>
            <p class="lead">\(escaped(lead))</p>
            <nav aria-label="Contents">\(parts.count > 1 ? links : "")</nav>
            \(body)<footer>
            <p>\(escaped(foot))</p>
            <p>The figures are in this file as JSON, in the element with the id "data".</p>
            </footer>
            </main>
            <script type="application/json" id="data">\(data)</script>
            <script>\(PageScript.text)</script>
            </body>
            </html>

            """
    }
}

/// Colours of Okabe and Ito ("Color Universal Design", 2008). Colour-blind readers can distinguish them; dashes and
/// markers need no colour.
enum PageStyle {
    static let sheet = """
        :root{--paper:#fff;--ink:#1a1a1a;--soft:#5a5a5a;--grid:#ddd;--panel:#f5f5f3;
        --c0:#0072B2;--c1:#D55E00;--c2:#009E73;--c3:#CC79A7;--c4:#E69F00;--c5:#56B4E9;--c6:#1a1a1a}
        @media (prefers-color-scheme:dark){:root{--paper:#15171a;--ink:#ececec;--soft:#b0b0b0;--grid:#34383d;--panel:#1f2226;
        --c0:#56B4E9;--c1:#D55E00;--c2:#009E73;--c3:#CC79A7;--c4:#E69F00;--c5:#F0E442;--c6:#ececec}}
        @media print{:root{--paper:#fff;--ink:#000;--soft:#444;--grid:#ccc;--panel:#fff;
        --c0:#0072B2;--c1:#D55E00;--c2:#009E73;--c3:#CC79A7;--c4:#E69F00;--c5:#56B4E9;--c6:#000}
        figure,table,.figures{break-inside:avoid}}
        *{box-sizing:border-box;print-color-adjust:exact;-webkit-print-color-adjust:exact}
        body{margin:0;background:var(--paper);color:var(--ink);font:16px/1.45 system-ui,sans-serif}
        main{max-width:824px;margin:0 auto;padding:20px 16px 40px}
        h1{font-size:1.5rem;line-height:1.2;margin:0 0 4px;overflow-wrap:anywhere}
        h1.part{margin-top:40px;border-top:2px solid var(--grid);padding-top:20px}
        h2{font-size:1.05rem;margin:0 0 8px}
        p{overflow-wrap:anywhere}
        .lead{color:var(--soft);margin:0 0 16px;overflow-wrap:anywhere}
        .figures{display:grid;grid-template-columns:repeat(auto-fit,minmax(150px,1fr));gap:10px;margin:0 0 16px}
        .figures div{background:var(--panel);border:1px solid var(--grid);border-radius:8px;padding:8px 12px}
        .figures dt{color:var(--soft);font-size:.85rem}
        .figures dd{margin:0;font-size:1.35rem;font-weight:650;font-variant-numeric:tabular-nums}
        pre.command{background:var(--panel);border:1px solid var(--grid);border-radius:8px;padding:10px 12px;margin:0 0 16px;
        white-space:pre-wrap;overflow-wrap:anywhere;font:14px/1.4 ui-monospace,monospace}
        figure{margin:26px 0}
        figcaption{color:var(--soft);margin-top:6px}
        svg{width:100%;height:auto;font:11.5px system-ui,sans-serif}
        .narrow{display:none}.wide{display:block}
        .scroll{overflow-x:auto;margin-bottom:20px}
        table{border-collapse:collapse;font-size:.84rem;font-variant-numeric:tabular-nums}
        th,td{text-align:right;padding:3px 0 3px 9px;border-bottom:1px solid var(--grid);white-space:nowrap}
        th.name,td.name{text-align:left;padding:3px 9px 3px 0}td.name{white-space:normal;overflow-wrap:anywhere;min-width:6em}
        th:not(.name)+th.name,td:not(.name)+td.name{padding-left:12px}
        th{color:var(--soft);font-weight:600}
        @media screen and (max-width:600px){.narrow{display:block}.wide,.extra{display:none}
        table{font-size:.8rem}th,td{padding-left:8px}}
        tr.marked td{font-weight:650;background:var(--panel);border-bottom:2px solid var(--ink)}tfoot td{font-weight:650}
        th button{all:unset;cursor:pointer}th button:focus-visible{outline:2px solid var(--c0)}
        th[aria-sort=ascending] button::after{content:" \\2191"}th[aria-sort=descending] button::after{content:" \\2193"}
        a{color:var(--c0)}nav{display:flex;flex-wrap:wrap;gap:4px 16px;margin:0 0 16px;font-size:.9rem;overflow-wrap:anywhere}
        .warning{border:2px solid var(--c1);border-radius:8px;padding:8px 12px;margin:0 0 16px;font-weight:650}
        :target{scroll-margin-top:12px}tr:has(:target) td{background:var(--panel)}
        footer{color:var(--soft);font-size:.85rem;margin-top:36px;overflow-wrap:anywhere}
        .t{fill:var(--ink)}
        .halo{stroke:var(--paper);stroke-width:4px;stroke-linejoin:round;paint-order:stroke}
        .grid{stroke:var(--grid);fill:none}.axis{stroke:var(--soft);fill:none}
        .l{fill:none;stroke-width:2;stroke-linejoin:round}
        .m{stroke:var(--paper);stroke-width:1}
        .c0{stroke:var(--c0)}.c1{stroke:var(--c1)}.c2{stroke:var(--c2)}.c3{stroke:var(--c3)}.c4{stroke:var(--c4)}
        .c5{stroke:var(--c5)}.c6{stroke:var(--c6)}.c7{stroke:var(--soft)}
        .f0{fill:var(--c0)}.f1{fill:var(--c1)}.f2{fill:var(--c2)}.f3{fill:var(--c3)}.f4{fill:var(--c4)}.f5{fill:var(--c5)}
        .f6{fill:var(--c6)}.f7{fill:var(--soft)}
        .d1{stroke-dasharray:7 4}.d2{stroke-dasharray:2 3}.d3{stroke-dasharray:9 3 2 3}.d4{stroke-dasharray:12 4}
        .d5{stroke-dasharray:4 2 1 2}.d6{stroke-dasharray:1 4;stroke-width:2.5}.d7{stroke-dasharray:14 3 2 3}
        .a0{fill:var(--c0)}.a1{fill:var(--c1)}.a2{fill:var(--c2)}.a3{fill:var(--c3)}.a4{fill:var(--c4)}.a5{fill:var(--c5)}
        .a6{fill:var(--soft)}
        .limit{stroke:var(--ink);stroke-width:1.6;stroke-dasharray:8 4;fill:none}
        .rule{stroke:var(--soft);stroke-width:1.3;stroke-dasharray:4 4;fill:none}
        .answer{stroke:var(--ink);stroke-width:2;fill:none}
        .u{stroke:var(--paper);stroke-width:.4}.drawn{fill:var(--c0)}.prefetched{fill:var(--c2)}.wasted{fill:var(--c1)}
        .way{stroke:var(--ink);stroke-width:1.1;fill:none;stroke-linejoin:round}
        .hover{fill:transparent}.hover:hover{fill:var(--ink);fill-opacity:.12}
        .spot{fill:var(--paper);stroke:var(--c1);stroke-width:2}.spot-text{fill:var(--ink);font-size:10.5px;font-weight:650}
        .paper{fill:var(--panel)}.edge{fill:none;stroke:var(--soft)}
        """
}
