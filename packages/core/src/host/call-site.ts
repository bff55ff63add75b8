import { sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { nameSources } from '../base/source-names.ts'

/** The maximum stack depth to search; the engine has fewer frames between an operation and its author's call. */
const depth = 40

/**
 /**
  * Returns where the author called the current operation: `file:line:column` of the innermost frame outside the package
  * and Node. If `operation` is on the stack, it and everything it calls count as the package's. Takes microseconds, so
  * it is used only for an operation that is asked about. Undefined in a bundle without a source map, which has the
  * package and the author's code in one file.
  * @example captureCallSite() // '/home/ana/refund.ts:12:28'
  */
export function captureCallSite(
  operation: (...args: never[]) => unknown = captureCallSite,
): string | undefined {
  const own = findOwnFolders()
  if (own === null) return undefined
  return placesOn(readStack(operation)).find((place) => !own.some((folder) => place.startsWith(folder)))
}

/**
 * Captures the current stack. Calling the result finds the author's frame, as in {@link findThrowSite}; that part is
 * the slow one. `below` is the function whose callers count.
 * @example const site = noteCallSite(setTimeout)
 */
export function noteCallSite(below: (...args: never[]) => unknown): () => string | undefined {
  const noted = noteStack(below)
  return () => findThrowSite(noted)
}

/**
 * Returns where the author's code threw an error: `file:line:column` of the innermost frame outside the package, Node
 * and, if possible, libraries. Also accepts the record of an error. For an error that Pawl created from another one,
 * its cause is searched.
 */
export function findThrowSite(error: unknown): string | undefined {
  const own = findOwnFolders() ?? []
  const places = stacksOf(error).flatMap(placesOn).filter(isNoneOf(own))
  return places.find((place) => !isOfLibrary(place)) ?? places[0]
}

/**
 * Returns the frames of an error or its record, with the author's code first.
 * If the error has none of the author's frames, returns the frames of its cause. Undefined if there are none.
 */
export function findFrames(error: unknown): string | undefined {
  const isForeign = isNoneOf(findOwnFolders() ?? [])
  const isAuthors = (frame: string): boolean => {
    const place = placeOf(frame)
    return place !== undefined && isForeign(place) && !isOfLibrary(place)
  }
  const stacks = stacksOf(error).map((stack) => stack.split('\n').filter((line) => /^\s*at /.test(line)))
  const frames = stacks.find((lines) => lines.some(isAuthors)) ?? stacks.find((lines) => lines.length > 0)
  if (frames === undefined) return undefined
  return [...frames.filter(isAuthors), ...frames.filter((frame) => !isAuthors(frame))].join('\n')
}

function isNoneOf(folders: readonly string[]): (place: string) => boolean {
  return (place) => !folders.some((folder) => place.startsWith(folder))
}

function isOfLibrary(place: string): boolean {
  return /[\\/]node_modules[\\/]/.test(place)
}

const maxCauseDepth = 8

/** Returns the stack of a thrown value and of its causes. Reading them may throw. */
function stacksOf(error: unknown): readonly string[] {
  const stacks: string[] = []
  let next = error
  try {
    for (let depth = 0; depth < maxCauseDepth && next !== undefined && next !== null; depth++) {
      const { stack, cause } = Object(next) as { readonly stack?: unknown; readonly cause?: unknown }
      if (typeof stack === 'string') stacks.push(stack)
      next = cause
    }
  } catch {
    // The stacks read so far count.
  }
  return stacks
}

/**
 * Returns the folders of the package's code as they appear in a stack: built, published as bundled chunks, or as sources via a
 * source map.
 */
function findOwnFolders(): readonly string[] | null {
  const here = placesOn(readStack())[0]
  const root = /^(.*[\\/])(?:(?:src|dist)[\\/]host[\\/]call-site\.[jt]s|dist[\\/]pawl-core-\w+\.js):/.exec(
    here ?? '',
  )?.[1]
  return root === undefined ? null : [`${root}src`, `${root}dist`].map((folder) => folder + sep)
}

/** Reads the stack as text: Node applies source maps only there. */
function readStack(below?: (...args: never[]) => unknown): string {
  const { stack } = noteStack(below)
  return typeof stack === 'string' ? stack : ''
}

/** Captures a stack, which becomes text on first access. */
function noteStack(below?: (...args: never[]) => unknown): { readonly stack?: unknown } {
  const limit = Error.stackTraceLimit
  const holder = {}
  Reflect.set(Error, 'stackTraceLimit', depth)
  try {
    Error.captureStackTrace(holder, below)
    return holder
  } finally {
    Reflect.set(Error, 'stackTraceLimit', limit)
  }
}

function placesOn(stack: string): readonly string[] {
  return stack
    .split('\n')
    .map(placeOf)
    .filter((place) => place !== undefined)
}

/** Returns the location in `    at async work (file:///app/refund.ts:12:28)` as a path; undefined for Node's own frames. */
function placeOf(frame: string): string | undefined {
  const [, inParentheses, bare] = /^\s*at (?:async )?(?:.*? \((.*)\)|(.*))$/.exec(frame) ?? []
  const [, file, position] = /^(.*?)(:\d+:\d+)$/.exec(nameSources(inParentheses ?? bare ?? '')) ?? []
  if (file === undefined || position === undefined) return undefined
  if (file.startsWith('node:')) return undefined
  return (file.startsWith('file:') ? fileURLToPath(file) : file) + position
}
