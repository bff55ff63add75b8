import { statfs } from 'node:fs/promises'
import { dirname } from 'node:path'

/** Tells whether SQLite's locks and shared memory are reliable on a file system. */
export type FileSystemVerdict =
  | { readonly verdict: 'fit' }
  | { readonly verdict: 'unfit'; readonly name: string }
  /** Reliable, but deleted with the container that it belongs to. */
  | { readonly verdict: 'fleeting'; readonly name: string }

// Magic numbers of Linux (statfs(2)). Several machines can share a file on the first group, but the shared memory of a
// WAL is limited to one machine.
const networked = new Map([
  [0x6969, 'NFS'],
  [0x517b, 'SMB'],
  [0xff534d42, 'CIFS'],
  [0xfe534d42, 'SMB 2'],
  [0x01021997, '9p'],
  [0x00c36400, 'Ceph'],
  [0x5346414f, 'AFS'],
  [0x0bd00bd0, 'Lustre'],
  [0x47504653, 'GPFS'],
  [0x01161970, 'GFS2'],
  [0x7461636f, 'OCFS2'],
])
const fleeting = new Map([
  [0x794c7630, 'overlay'],
  [0x61756673, 'aufs'],
])

export function judgeFileSystem(type: number): FileSystemVerdict {
  // Some kernels sign-extend the number to 64 bits.
  const magic = Number(BigInt.asUintN(32, BigInt(type)))
  const shared = networked.get(magic)
  if (shared) return { verdict: 'unfit', name: shared }
  const layered = fleeting.get(magic)
  return layered ? { verdict: 'fleeting', name: layered } : { verdict: 'fit' }
}

/** Reads the file system of the file's directory. Linux only: the numbers differ on other platforms. */
export async function readFileSystem(file: string): Promise<FileSystemVerdict> {
  if (process.platform !== 'linux') return { verdict: 'fit' }
  return judgeFileSystem((await statfs(dirname(file))).type)
}
