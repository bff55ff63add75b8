import { useRef, useState } from 'preact/hooks'

/** Event handlers that tell whether a person points at an element or has the focus in it. */
export interface StillHandlers {
  readonly onPointerEnter: () => void
  readonly onPointerLeave: () => void
  readonly onFocusIn: () => void
  readonly onFocusOut: () => void
}

interface Still<T> {
  /** The value, or the one of when the pointer or the focus came into the element. */
  readonly shown: T
  readonly handlers: StillHandlers
  /** Shows the present value, and keeps that one. */
  readonly release: () => void
}

/** Keeps a value while the pointer or the focus is inside an element, so that nothing moves there. */
export function useStill<T>(value: T): Still<T> {
  const [, render] = useState(0)
  const at = useRef({ pointer: false, focus: false })
  const kept = useRef(value)
  const isHeld = at.current.pointer || at.current.focus
  if (!isHeld) kept.current = value
  const change = (one: 'pointer' | 'focus', isInside: boolean) => () => {
    at.current[one] = isInside
    render((count) => count + 1)
  }
  return {
    shown: kept.current,
    handlers: {
      onPointerEnter: change('pointer', true),
      onPointerLeave: change('pointer', false),
      onFocusIn: change('focus', true),
      onFocusOut: change('focus', false),
    },
    release: () => {
      // The button that was pressed goes, and its focus with it.
      at.current.focus = false
      kept.current = value
      render((count) => count + 1)
    },
  }
}
