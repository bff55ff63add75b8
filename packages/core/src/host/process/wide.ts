const prefix = '@pawl/core/'

/**
 * One cell of the process, made by whoever asks first. Two copies of this package find the same one, so
 * that they agree whose turn it is and change the globals once. They may be of different releases: a cell whose
 * shape changes gets another name.
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
 * Changes something of the process for as long as anybody wants it: `install` runs for the first who asks,
 * what it returns for the last who is done. Returns how to be done.
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
