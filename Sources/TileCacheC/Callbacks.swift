internal import CTileCache
internal import Synchronization

/// A caller's context pointer and the function that ends it: called once, when the last user of this object is gone.
///
/// `@unchecked Sendable`: nothing here reads through the pointer, and the interface says that callbacks come from any
/// thread.
final class CallbackContext: @unchecked Sendable {
    let pointer: UnsafeMutableRawPointer?
    private let destroy: tilecache_function?
    private let isArmed = Atomic(true)

    init(_ pointer: UnsafeMutableRawPointer?, destroy: tilecache_function?) {
        self.pointer = pointer
        self.destroy = destroy
    }

    deinit {
        if isArmed.load(ordering: .relaxed) { destroy?(pointer) }
    }

    /// Leaves the context with the caller: the call that took it has failed.
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
