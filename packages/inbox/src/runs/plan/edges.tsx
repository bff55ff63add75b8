import { useLayoutEffect, useState } from 'preact/hooks'
import type { Plan } from './plan.ts'

/** More lines than these hide what they connect. */
const mostEdges = 200

interface Drawing {
  readonly width: number
  readonly height: number
  readonly lines: readonly { readonly path: string; readonly isPassed: boolean }[]
}

/** Lines from each task to the tasks that need it. The list says the same in text, so they are hidden from screen readers. */
export function Edges({
  box,
  plan,
}: {
  readonly box: { readonly current: HTMLElement | null }
  readonly plan: Plan
}) {
  const [drawing, setDrawing] = useState<Drawing | null>(null)
  useLayoutEffect(() => {
    const element = box.current
    if (element === null) return
    const draw = (): void => setDrawing(measure(element, plan))
    draw()
    // Text that wraps differently moves the tasks.
    const observer = new ResizeObserver(draw)
    observer.observe(element)
    return () => observer.disconnect()
  }, [box, plan])
  if (drawing === null) return null
  return (
    <svg class="plan-edges" width={drawing.width} height={drawing.height} aria-hidden="true">
      {drawing.lines.map(({ path, isPassed }) => (
        <path key={path} d={path} class={isPassed ? 'passed' : undefined} />
      ))}
    </svg>
  )
}

function measure(element: HTMLElement, plan: Plan): Drawing {
  const frame = element.getBoundingClientRect()
  const places = new Map<string, DOMRect>()
  for (const task of element.querySelectorAll<HTMLElement>('[data-task]'))
    places.set(task.dataset['task'] ?? '', task.getBoundingClientRect())
  const tasks = plan.layers.flat()
  const passed = new Set(tasks.filter(({ state }) => state === 'done').map(({ id }) => id))
  const lines = tasks.flatMap(({ id, needs, state }) =>
    needs.flatMap((need) => {
      const [from, to] = [places.get(need), places.get(id)]
      if (from === undefined || to === undefined) return []
      const [x1, y1] = [from.left + from.width / 2 - frame.left, from.bottom - frame.top]
      const [x2, y2] = [to.left + to.width / 2 - frame.left, to.top - frame.top]
      const bend = Math.max(12, (y2 - y1) / 2)
      const path = `M${x1} ${y1}C${x1} ${y1 + bend} ${x2} ${y2 - bend} ${x2} ${y2}`
      return [{ path, isPassed: passed.has(need) && state !== 'later' && state !== 'skipped' }]
    }),
  )
  return { width: frame.width, height: frame.height, lines: lines.length > mostEdges ? [] : lines }
}
