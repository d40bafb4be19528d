extension CacheCore {
    func notePressure(_ level: MemoryPressureLevel) {
        let now = clock()
        changePressure { $0.note(level, now: now) }
    }

    /// Changes the pressure, moves the pool to the limit that it leaves, and sets the time of its next step.
    func changePressure(_ change: @Sendable (inout PressureRule) -> Void) {
        changeLimit { state in
            let before = state.pressure.share
            change(&state.pressure)
            if state.due.setLimit(at: state.pressure.nextStep) { state.effects.setsTimer = true }
            return state.pressure.share != before
        }
    }
}
