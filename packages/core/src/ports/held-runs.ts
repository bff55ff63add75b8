import { isUnread } from '../events/codec.ts'
import { generationIn } from '../events/generation.ts'
import { readStarted } from '../events/read-started.ts'
import type { RunRow } from './store/runs.ts'
import type { StorePort } from './store/store.ts'

type Store = Pick<StorePort, 'runs' | 'log'>

/**
 * Returns the id of the live run that may still ask for the result of an ended child, which is kept until then; null if there is none.
 * A run asks for what its present generation has spawned. The end of a called child was sent to its parent, and a detached child is
 * on its own, unless the parent was retried since and may ask for it again.
 */
export async function findHolder(store: Store, child: RunRow): Promise<string | null> {
  if (child.parent === null) return null
  const { run, position } = child.parent
  const parent = await store.runs.find(run)
  // One that was created later has only the id of the parent.
  if (parent?.state !== 'live' || parent.createdAt > child.createdAt) return null
  try {
    const first = await readFirst(store, parent)
    if (first?.generation?.createdBefore?.some(({ id }) => id === child.id) === true) return run
    const origin = await readFirst(store, child)
    if (origin?.parent?.isCalled === true || origin?.parent?.detached === true) return null
    return first !== null && position !== null && position < first.firstPosition ? null : run
  } catch (error) {
    if (isUnread(error)) return run
    throw error
  }
}

async function readFirst(
  store: Store,
  { run, base }: RunRow,
): Promise<(ReturnType<typeof readStarted> & { readonly firstPosition: number }) | null> {
  const [first] = await store.log.load(run, base, 1)
  if (first === undefined) return null
  const started = readStarted(first)
  return { ...started, firstPosition: generationIn(started, first).firstPosition }
}
