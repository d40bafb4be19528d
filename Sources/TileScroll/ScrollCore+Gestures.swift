import TileCache

extension ScrollCore {
    /// Handles the events common to all scroll views: fingers and wheels. Each design handles the others.
    mutating func handle(_ event: ScrollEvent) {
        switch event {
        case .touchBegan(let id, let place): begin(id, place)
        case .touchMoved(let id, let place): move(id, place)
        case .touchEnded(let id): end(id, keepsMoving: true)
        case .touchCancelled(let id): end(id, keepsMoving: false)
        case .scroll(let way):
            // A started zoom continues to its end: its present scale may be out of bounds.
            if isZooming { return }
            interrupt()
            show(limits.clamped(offset + way, at: scale), scale)
            dragStart = offset
            if pageWidth != nil { release(.zero) }
        case .magnify(let factor, let place):
            interrupt()
            let larger = snapped(scale * factor)
            let anchor = (offset + place) * (1 / scale)
            show(limits.clamped(anchor * larger - place, at: larger), larger)
            zoomOver = clock
        case .doubleTap, .zoom, .resize: break
        }
    }

    /// Stops all movement and ignores the fingers that are down.
    mutating func interrupt() {
        if case .pinch = gesture { zoomOver = clock }
        fingers.removeAll()
        gesture = .none
        freeze()
    }

    /// Changes scale and offset at once, or animated in 0.2 s.
    mutating func zoom(to target: ScrollVector, scale wanted: Double, animated: Bool) {
        interrupt()
        let scale = snapped(wanted)
        let offset = limits.clamped(target, at: scale)
        guard animated, offset != self.offset || scale != self.scale else {
            show(offset, scale)
            zoomOver = clock
            return
        }
        let animation = ZoomAnimation(from: (self.offset, self.scale), to: (offset, scale), limits: limits, at: clock)
        motion = .zoom(animation)
        zoomOver = animation.end
    }

    /// Moves a place of the view to its middle at a scale.
    mutating func zoom(about place: ScrollVector, to wanted: Double, animated: Bool) {
        interrupt()
        let target = snapped(wanted)
        zoom(
            to: (offset + place) * (1 / scale) * target - limits.view.middle,
            scale: target,
            animated: animated
        )
    }

    // MARK: Fingers

    private mutating func begin(_ id: Int, _ place: ScrollVector) {
        // As with wheels, a started zoom continues to its end.
        if case .zoom = motion { return }
        guard fingers.count < 2, !fingers.contains(where: { $0.id == id }) else { return }
        freeze()
        fingers.append((id, place))
        if fingers.count == 1 { beginDrag(place) } else { beginPinch() }
    }

    private mutating func beginDrag(_ place: ScrollVector) {
        gesture = .drag(origin: limits.asked(offset, at: scale) + place)
        dragStart = offset
        tracker = VelocityTracker()
        tracker.add(place, at: clock)
    }

    private mutating func beginPinch() {
        let asked = limits.asked(offset, at: scale)
        gesture = .pinch(
            anchor: (asked + middleOfFingers) * (1 / scale),
            distance: distanceOfFingers,
            scale: scale
        )
        zoomOver = nil
    }

    private var middleOfFingers: ScrollVector {
        fingers.reduce(ScrollVector.zero) { $0 + $1.place } * (1 / Double(max(1, fingers.count)))
    }

    /// At least a pixel: two fingers in one place would make the scale jump.
    private var distanceOfFingers: Double {
        guard fingers.count == 2 else { return 1 }
        return max(1, (fingers[0].place - fingers[1].place).length)
    }

    private mutating func move(_ id: Int, _ place: ScrollVector) {
        guard let index = fingers.firstIndex(where: { $0.id == id }) else { return }
        fingers[index].place = place
        switch gesture {
        case .none: break
        case .drag(let origin):
            tracker.add(place, at: clock)
            show(limits.stretched(origin - place, at: scale), scale)
        case .pinch(let anchor, let distance, let startScale):
            let scale = resisted(startScale * (distanceOfFingers / distance))
            show(limits.stretched(anchor * scale - middleOfFingers, at: scale), scale)
        }
    }

    /// Scale shown for the fingers' scale. It resists beyond a bound, by up to an octave.
    private func resisted(_ asked: Double) -> Double {
        let legal = asked.clamped(to: scaleBounds)
        guard bouncesZoom, asked != legal, asked > 0, asked.isFinite else { return legal }
        let octaves = PortableMath.log2(asked / legal)
        let beyond = RubberBand.shown(octaves.magnitude, 1)
        return legal * PortableMath.exp2(octaves < 0 ? -beyond : beyond)
    }

    private mutating func end(_ id: Int, keepsMoving: Bool) {
        guard let index = fingers.firstIndex(where: { $0.id == id }) else { return }
        let middle = middleOfFingers
        fingers.remove(at: index)
        switch gesture {
        case .none: break
        case .drag:
            gesture = .none
            release(keepsMoving ? tracker.velocity(at: clock) * -1 : .zero)
        case .pinch(let anchor, _, _):
            gesture = .none
            zoomOver = clock
            endPinch(anchor: anchor, middle: middle)
        }
    }

    private mutating func endPinch(anchor: ScrollVector, middle: ScrollVector) {
        let legal = snapped(scale)
        if scale == legal || isNext(scale, to: legal) {
            // At a bound, or between the bounds.
            if scale != legal { show(limits.stretched(anchor * legal - middle, at: legal), legal) }
            if let finger = fingers.first { beginDrag(finger.place) } else { release(.zero) }
        } else {
            // The scale returns about the fingers; a remaining finger has no effect.
            fingers.removeAll()
            zoom(to: anchor * legal - middle, scale: legal, animated: true)
        }
    }

    /// Releases the content at a velocity of the offset.
    private mutating func release(_ velocity: ScrollVector) {
        if let pageWidth {
            settle(onPagesOf: pageWidth, velocity)
        } else if let motion = ScrollMotion(
            from: offset,
            velocity: velocity,
            limits: limits,
            scale: scale,
            rate: rate,
            at: clock
        ) {
            self.motion = .scroll(motion)
        }
    }

    /// Settles on the page nearest to the end of a fling. At most one from the page of the touch.
    private mutating func settle(onPagesOf width: Double, _ velocity: ScrollVector) {
        let range = limits.horizontal(at: scale)
        let natural = ScrollDeceleration(from: offset, velocity: velocity, rate: .fast).end.x
        let first = (dragStart.x / width).rounded()
        let page = (natural / width).rounded().clamped(to: (first - 1)...(first + 1))
        spring(toHorizontal: (page * width).clamped(to: range), velocity: velocity.x)
    }

    /// Settles on a chosen page.
    mutating func settle(onPage page: Int) {
        freeze()
        spring(toHorizontal: Double(page) * (pageWidth ?? 0), velocity: 0)
    }

    private mutating func spring(toHorizontal place: Double, velocity: Double) {
        let target = ScrollVector(x: place, y: limits.vertical(at: scale).lowerBound)
        let speed = ScrollVector(x: velocity, y: 0)
        if let motion = ScrollMotion(from: offset, to: target, velocity: speed, at: clock) {
            self.motion = .scroll(motion)
        } else {
            show(target, scale)
        }
    }
}
