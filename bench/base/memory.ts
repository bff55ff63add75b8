/** Resident memory in MB once what is garbage has been collected, as far as the process lets us. */
export function residentMb(): number {
  const collect = (globalThis as { gc?: () => void }).gc
  collect?.()
  collect?.()
  return process.memoryUsage.rss() / 2 ** 20
}
