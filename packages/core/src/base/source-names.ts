/** A module that a loader hands to Node as a `data:` URL, with its source before the path of its file, as tsx does with CommonJS. */
const named = /data:text\/javascript,\S*?\?filePath=([^\s:)?]+)/g
/** A `data:` URL up to the place in it. */
const unnamed = /data:text\/javascript,\S*?(?=(?::\d+:\d+)?\)?$)/gm

/** Replaces `data:` URLs in a stack with the paths of their files: what is recorded must be readable, and hold no source code. */
export function nameSources(stack: string): string {
  if (!stack.includes('data:text/javascript,')) return stack
  return stack
    .replaceAll(named, (url, file: string) => readPath(file) ?? url)
    .replaceAll(unnamed, 'data:text/javascript')
}

/** Returns the path without what a loader appends to it; undefined if it is not encoded as one. */
function readPath(file: string): string | undefined {
  try {
    return decodeURIComponent(file).split('?')[0]
  } catch {
    return undefined
  }
}
