import { type Child, startChild } from '../../shared/src/child.ts'

/** Starts a program of this example as a process of its own. */
export function startProgram(name: 'worker' | 'answer', ...args: readonly string[]): Child {
  return startChild(`./${name}`, import.meta.url, { args })
}
