import { useLayoutEffect, useRef } from 'preact/hooks'

const kept = new Map<string, number>()

/**
 * Scrolls an element to where it was when this list was last on the page, and to the top for anything else.
 * @param list names the list; null if no list is shown
 */
export function useKeptScroll(list: string | null) {
  const ref = useRef<HTMLElement>(null)
  const shown = useRef(list)
  shown.current = list
  useLayoutEffect(() => {
    ref.current?.scrollTo({ top: (list === null ? undefined : kept.get(list)) ?? 0 })
  }, [list])
  const onScroll = () => {
    if (shown.current !== null) kept.set(shown.current, ref.current?.scrollTop ?? 0)
  }
  return { ref, onScroll }
}
