package import CTileCache
internal import Synchronization

/// A caller's context pointer and its destroy function. Called once, when the last reference is released.
///
/// `@unchecked Sendable`: the pointer is never dereferenced here, and the interface documents that callbacks come from
/// any thread.
package final class CallbackContext: @unchecked Sendable {
    package let pointer: UnsafeMutableRawPointer?
    private let destroy: tilecache_function?
    private let isArmed = Atomic(true)

    package init(_ pointer: UnsafeMutableRawPointer?, destroy: tilecache_function?) {
        self.pointer = pointer
        self.destroy = destroy
    }

    deinit {
        if isArmed.load(ordering: .relaxed) { destroy?(pointer) }
    }

    /// Leaves the context to the caller: the call that took it has failed.
    func disarm() { isArmed.store(false, ordering: .relaxed) }
}

/// A function without arguments, and its context.
struct Callback: @unchecked Sendable {
    private let function: tilecache_function
    private let context: CallbackContext

    init(_ function: tilecache_function, _ context: CallbackContext) {
        self.function = function
        self.context = context
    }

    func call() { withExtendedLifetime(context) { function(context.pointer) } }
}
