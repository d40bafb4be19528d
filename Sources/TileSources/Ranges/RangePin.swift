/// What identifies a file on a server while it is open.
struct RangePin: Equatable {
    var entityTag: String?
    var lastModified: String?
    var size: Int
    /// When the server answered (`Date`), in seconds since 1970; `nil` if it does not say.
    var date: Int64?

    /// Whether an answer may be from another file.
    ///
    /// Sizes must be equal. Then tags decide: strong ones that differ are two files, and equal ones are one file, unless
    /// it was modified after it was opened. (Some servers keep the tag of a file that is replaced.) Tags are equal if
    /// they differ by `W/` only: some servers state a new file's tag as weak. Weak tags that differ identify nothing:
    /// each server of a group may have its own. Without tags `Last-Modified` must be equal. An answer without anything to
    /// compare is another file's if the pin has any.
    func isOther(_ answer: RangePin) -> Bool {
        guard size == answer.size else { return true }
        switch Self.compare(entityTag, answer.entityTag) {
        case .equal: return isModified(answer)
        case .differ: return true
        case .unknown: break
        }
        if let lastModified, let other = answer.lastModified { return !Self.isSameTime(lastModified, other) }
        return lastModified != nil || (entityTag != nil && answer.entityTag == nil)
    }

    /// Takes from an answer of the same file what identifies it better or no more.
    ///
    /// A tag that was weak may be strong by now. A weak tag that differs from answer to answer is dropped.
    mutating func confirm(_ answer: RangePin) {
        guard let own = entityTag, let other = answer.entityTag, Self.isWeak(own) else { return }
        entityTag = Self.compare(own, other) == .equal ? other : nil
    }

    /// Whether anything but the size tells a file from its successor.
    var isIdentified: Bool { entityTag != nil || lastModified != nil }

    /// Parts of a data set. A tag has the same name whether it is weak or strong.
    var names: [String] {
        ["\(size) bytes", entityTag.map { String(Self.opaque($0)) } ?? "no ETag", lastModified ?? "no Last-Modified"]
    }

    private enum Comparison { case equal, differ, unknown }

    private static func compare(_ one: String?, _ other: String?) -> Comparison {
        guard let one, let other else { return .unknown }
        if opaque(one) == opaque(other) { return .equal }
        return isWeak(one) || isWeak(other) ? .unknown : .differ
    }

    private static func isWeak(_ tag: String) -> Bool { tag.hasPrefix("W/") || tag.hasPrefix("w/") }

    /// A tag without `W/`.
    private static func opaque(_ tag: String) -> Substring { isWeak(tag) ? tag.dropFirst(2) : tag[...] }

    /// Whether an answer's file was modified after this one was opened.
    ///
    /// A later `Last-Modified` alone does not say so: where each server of a group has a copy of the file, the copies have
    /// times of their own. These lie before the first answer's `Date`.
    private func isModified(_ answer: RangePin) -> Bool {
        guard let own = lastModified.flatMap({ Self.time($0) }),
            let other = answer.lastModified.flatMap({ Self.time($0) })
        else { return false }
        return other > own && other >= (date ?? own)
    }

    private static func isSameTime(_ one: String, _ other: String) -> Bool {
        guard one != other else { return true }
        guard let one = time(one), let other = time(other) else { return false }
        return one == other
    }

    /// Seconds since 1970. Years of two digits are those from 1971 to 2070.
    private static func time(_ text: String) -> Int64? { HTTPDate.parse(text, now: 1_577_836_800) }
}

extension RangePin {
    init(_ headers: HTTPCacheHeaders, size: Int) {
        self.init(
            entityTag: headers.entityTag,
            lastModified: headers.lastModified,
            size: size,
            date: headers.date.flatMap { Self.time($0) }
        )
    }
}
