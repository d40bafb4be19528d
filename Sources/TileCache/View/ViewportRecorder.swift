/// Receives the viewports of a view, such as the `PanTraceRecorder` of the module `PanTraces`.
public protocol ViewportRecorder: AnyObject, Sendable {
    /// Records a viewport. Called by ``TileView/update(_:at:destination:)``, on its thread, without the cache's lock.
    ///
    /// - Parameters:
    ///   - viewport: The viewport, also one that cannot be drawn.
    ///   - nanoseconds: Time of the viewport, as given or by the cache's clock.
    /// - Returns: Whether it was recorded. A view ignores that.
    @discardableResult
    func record(_ viewport: TileViewport, at nanoseconds: Int64) -> Bool
}
