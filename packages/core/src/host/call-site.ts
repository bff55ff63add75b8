import { sep } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The engine's own frames between an operation and its author's call are fewer than that. */
const depth = 40

/**
 * Where the author called the operation that is being issued: `file:line:column` of the innermost frame that
 * is neither the package's nor Node's. `operation`, if given and on the stack, is taken for the package's with
 * all it calls. Takes microseconds, so it is for the one operation somebody asks about. Undefined in a bundle
 * without a source map, where the package's frames and the author's are in one file.
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
 * Notes the present stack. Its author's frame, as of {@link findThrowSite}, is looked for when the result is called:
 * that takes most of the time. `below`: the function whose callers count.
 * @example const site = noteCallSite(setTimeout)
 */
export function noteCallSite(below: (...args: never[]) => unknown): () => string | undefined {
  const noted = noteStack(below)
  return () => findThrowSite(noted)
}

/**
 * Where the author's code threw an error, or the record of one: `file:line:column` of the innermost frame that is
 * neither the package's nor Node's nor, if there is another, a library's. An error that Pawl made of another is
 * searched for its cause.
 */
export function findThrowSite(error: unknown): string | undefined {
  const own = findOwnFolders() ?? []
  const places = stacksOf(error).flatMap(placesOn).filter(isNoneOf(own))
  return places.find((place) => !isOfLibrary(place)) ?? places[0]
}

/**
 * The frames of an error, or of the record of one, with those of the author's code first. Of an error without such
 * frames, those of its cause. Undefined if there are none.
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

/** Its own, and those of its causes. Whatever was thrown: to read of it may throw as well. */
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
    // What was read before counts.
  }
  return stacks
}

/** Of the package's code as it stands in a stack: built, or its sources by way of a source map. */
function findOwnFolders(): readonly string[] | null {
  const here = placesOn(readStack())[0]
  const root = /^(.*[\\/])(?:src|dist)[\\/]host[\\/]call-site\.[jt]s:/.exec(here ?? '')?.[1]
  return root === undefined ? null : [`${root}src`, `${root}dist`].map((folder) => folder + sep)
}

/** As text, which is where Node applies source maps. */
function readStack(below?: (...args: never[]) => unknown): string {
  const { stack } = noteStack(below)
  return typeof stack === 'string' ? stack : ''
}

/** Its stack becomes text when it is first read. */
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

/** Of `    at async work (file:///app/refund.ts:12:28)` the place, as a path; undefined for Node's own. */
function placeOf(frame: string): string | undefined {
  const [, inParentheses, bare] = /^\s*at (?:async )?(?:.*? \((.*)\)|(.*))$/.exec(frame) ?? []
  const [, file, position] = /^(.*?)(:\d+:\d+)$/.exec(inParentheses ?? bare ?? '') ?? []
  if (file === undefined || position === undefined) return undefined
  if (file.startsWith('node:')) return undefined
  return (file.startsWith('file:') ? fileURLToPath(file) : file) + position
}
