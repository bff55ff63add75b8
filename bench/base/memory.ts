/** Returns resident memory in MB after a garbage collection, if the process exposes one. */
export function residentMb(): number {
  const collect = (globalThis as { gc?: () => void }).gc
  collect?.()
  collect?.()
  return process.memoryUsage.rss() / 2 ** 20
}
