const prefix = '@pawl/core/'

/**
 * Returns a cell of the process, created on first use.
 * Two copies of this package find the same one, so that they agree on the current turn and change the globals once. The
 * copies may be of different releases: if the shape of a cell changes, so must its name.
 */
export function shareCell<Cell extends object>(name: string, make: () => Cell): Cell {
  const cells = globalThis as { [key: symbol]: Cell | undefined }
  const key = Symbol.for(prefix + name)
  const there = cells[key]
  if (there !== undefined) return there
  const cell = make()
  Object.defineProperty(globalThis, key, { value: cell })
  return cell
}

/**
 * Changes global state while it has users: `install` runs for the first user, and its result for the last one to leave.
 * Returns a function that ends this use.
 */
export function installOnce(name: string, install: () => () => void): () => void {
  const installed = shareCell<{ users: number; remove: () => void }>(name, () => ({
    users: 0,
    remove: () => {},
  }))
  if (installed.users === 0) installed.remove = install()
  installed.users++
  let done = false
  return () => {
    if (done) return
    done = true
    installed.users--
    if (installed.users === 0) installed.remove()
  }
}
