/** Whether two values are the same in every way a program can see, identity apart; else the path to a difference. */
export function findDifference(left: unknown, right: unknown, path = 'value'): string | undefined {
  if (Object.is(left, right)) return undefined
  if (typeof left !== 'object' || typeof right !== 'object' || left === null || right === null) return path
  if (Object.getPrototypeOf(left) !== Object.getPrototypeOf(right)) return `${path} (prototype)`
  if (left instanceof Date) return Object.is(left.getTime(), (right as Date).getTime()) ? undefined : path
  if (ArrayBuffer.isView(left))
    return findDifference(bytesOf(left), bytesOf(right as typeof left), `${path} (bytes)`)
  if (left instanceof Map) return findDifference([...left], [...(right as typeof left)], `${path} (entries)`)
  if (left instanceof Set) return findDifference([...left], [...(right as typeof left)], `${path} (items)`)
  const keys = Object.getOwnPropertyNames(left)
  const others = Object.getOwnPropertyNames(right)
  if (keys.length !== others.length || keys.some((key, index) => key !== others[index]))
    return `${path} (keys)`
  for (const key of keys) {
    const difference = findDifference(
      readOwn(left, key),
      readOwn(right, key),
      `${path}[${JSON.stringify(key)}]`,
    )
    if (difference !== undefined) return difference
  }
  return undefined
}

function bytesOf(view: ArrayBufferView): number[] {
  return Array.from(new Uint8Array(view.buffer, view.byteOffset, view.byteLength))
}

function readOwn(holder: object, key: string): unknown {
  return Object.getOwnPropertyDescriptor(holder, key)?.value
}
