type Version = readonly [number, number, number]

// From 3.7.0 up to these releases, two connections that write and checkpoint at the same time can corrupt the file or
// lose a commit. The first two release lines have the fix from that release on; 3.52.0 was withdrawn.
const corrected: readonly Version[] = [
  [3, 44, 6],
  [3, 50, 7],
  [3, 51, 3],
]
const withdrawn: Version = [3, 52, 0]

/** Returns whether this release of SQLite can safely write to a WAL together with other processes. */
export function isTrustedVersion(text: string): boolean {
  const [major = 0, minor = 0, patch = 0] = text.split('.').map(Number)
  const version: Version = [major, minor, patch]
  if (compare(version, withdrawn) === 0) return false
  const line = corrected.find((first) => first[0] === major && first[1] === minor)
  return compare(version, line ?? (corrected.at(-1) as Version)) >= 0
}

function compare(a: Version, b: Version): number {
  return a[0] - b[0] || a[1] - b[1] || a[2] - b[2]
}
