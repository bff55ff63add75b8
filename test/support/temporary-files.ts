import { existsSync, readFileSync, statfsSync } from 'node:fs'

const memory = '/dev/shm'
const roomBytes = 4 * 1024 ** 3

/**
 * Keeps temporary files in memory where the system has a folder for that: waiting for a disk is a third of the time of
 * the tests. They kill processes, not the machine, and files in memory outlive processes as those of a disk do.
 * TMPDIR names another folder.
 */
export function keepFilesInMemory(): void {
  if (process.env['TMPDIR'] === undefined && isFit()) process.env['TMPDIR'] = memory
}

/** Whether it is there, has room, and programs may be started from it: some tests install the packages. */
function isFit(): boolean {
  if (!existsSync(memory) || !existsSync('/proc/mounts')) return false
  const mount = readFileSync('/proc/mounts', 'utf8')
    .split('\n')
    .map((line) => line.split(' '))
    .find(([, folder]) => folder === memory)
  if (mount?.[3] === undefined || mount[3].split(',').includes('noexec')) return false
  const { bavail, bsize } = statfsSync(memory)
  return bavail * bsize >= roomBytes
}
